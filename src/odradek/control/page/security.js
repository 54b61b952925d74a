// Who may log in by SCRAM, what the ACLs say, and the clients' quotas.

import { kafka } from "./api.js";
import { button, h } from "./dom.js";
import { DEFAULT, ENTITIES, MECHANISMS, OPERATIONS, RESOURCES, ask, asks } from "./forms.js";
import { known } from "./frame.js";
import { Grid } from "./grid.js";
import { search } from "./parts.js";

const EVERY = { resourceTypeFilter: 1, resourceNameFilter: null, patternTypeFilter: 1, principalFilter: null, hostFilter: null, operation: 1, permissionType: 1 };

export function securityView() {
  let entries = [];
  const users = new Grid({ label: "SCRAM users", key: each => `${each.name} ${each.mechanism}`, empty: "No SCRAM users. Those of PLAIN stand in the broker's configs.", pick: () => {}, remove: each => ask("delete-user", each),
    columns: [["User", "minmax(100px, 2fr)", each => each.name, "", "name"], ["Mechanism", "minmax(120px, 1fr)", each => MECHANISMS[each.mechanism]],
      ["Iterations", "90px", each => each.iterations, "num extra"]] });
  const acls = new Grid({ label: "ACLs", key: each => JSON.stringify(each), pick: () => {}, remove: each => ask("delete-acl", each), columns: [
    ["Principal", "minmax(90px, 2fr)", each => each.principal, "", "principal"],
      ["May", "50px", each => each.permissionType === 3 ? ["yes", "good"] : ["no", "bad"]],
      ["Operation", "minmax(80px, 1fr)", each => OPERATIONS[each.operation]],
    ["On", "minmax(60px, 1fr)", each => RESOURCES[each.resourceType], "extra"],
      ["Name", "minmax(70px, 2fr)", each => each.resourceName + (each.patternType === 4 ? "*" : ""), "", "resourceName"],
      ["From", "80px", each => each.host, "extra"]] });
  const quotas = new Grid({ label: "Quotas", key: each => `${each.who} ${each.key}`, empty: "No quotas.", pick: () => {}, remove: each => ask("delete-quota", each),
    columns: [["Of", "minmax(100px, 2fr)", each => each.who, "", "who"], ["Quota", "minmax(130px, 2fr)", each => each.key], ["Value", "90px", each => each.value, "num"]] });
  const box = search("Search ACLs", () => fill());
  const fill = () => acls.set(entries.filter(each => `${each.principal} ${each.resourceName}`.includes(box.value)));
  const remove = grid => button("Remove", grid.chosenRow(grid.remove)), add = name => asks("Add", name, () => ({}), undefined, { "aria-label": `Add: ${name}` });
  async function poll() {
    const { results } = await kafka("DescribeUserScramCredentials", { users: null });
    users.set(results.flatMap(each => each.credentialInfos.map(one => ({ name: each.user, ...one }))));
    const { entries: limits } = await kafka("DescribeClientQuotas", { components: [], strict: false });
    quotas.set((limits ?? []).flatMap(({ entity, values }) => {
      const of = Object.fromEntries(entity.map(each => [each.entityType, each.entityName ?? DEFAULT]));
      return values.map(each => ({ ...each, ...of, who: ENTITIES.filter(type => type in of).map(type => `${type} ${of[type]}`).join(", ") }));
    }));
    if (!(await known()).authorizer) { acls.none.textContent = "No ACLs are in force: security=Security(...) in Python, authorizer.class.name in the configs."; return; }
    const { resources } = await kafka("DescribeAcls", EVERY);
    entries = resources.flatMap(({ acls: some, ...of }) => some.map(each => ({ ...of, ...each })));
    acls.none.textContent = "No ACLs.";
    fill();
  }
  return { nodes: [h("div", { className: "bar" }, h("h2", {}, "SCRAM users"), add("user"), remove(users)), users.root,
    h("div", { className: "bar" }, h("h2", {}, "Quotas"), add("quota"), remove(quotas)), quotas.root,
    h("div", { className: "bar" }, h("h2", {}, "ACLs"), add("acl"), remove(acls), box), acls.root], poll };
}
