"""What clients asked and were answered, to look at: decoded, selected, told in a line, saved."""
