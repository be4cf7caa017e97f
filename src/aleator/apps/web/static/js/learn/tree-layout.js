// Where the nodes of a drawn tree lie, and how often its branches are taken.

export const [STEP_X, ROW, PAD] = [92, 23, 14];

// node id -> ids of the drawn nodes below it, in order
export function childrenOf(nodes) {
  const children = new Map(nodes.map((node) => [node.id, []]));
  for (const node of nodes) if (node.id) children.get(node.parent)?.push(node.id);
  return children;
}

// places of all nodes, and the size of the picture: leaves lie below each other, a parent in the middle of its children
export function layOut(nodes) {
  const [children, places] = [childrenOf(nodes), new Map()];
  let [row, deepest] = [0, 0];
  const visit = (id, depth) => {
    deepest = Math.max(deepest, depth);
    const below = children.get(id).map((child) => visit(child, depth + 1));
    const y = below.length ? (below[0] + below.at(-1)) / 2 : PAD + ROW * (row += 1) - ROW / 2;
    places.set(id, { x: PAD + 8 + STEP_X * depth, y });
    return y;
  };
  visit(nodes[0].id, 0);
  return { places, width: 2 * PAD + STEP_X * deepest + 96, height: 2 * PAD + ROW * row };
}

// how often each drawn branch is taken, each hand as likely as any other
export function reachOf(nodes, policy) {
  const [children, reach] = [childrenOf(nodes), new Map([[nodes[0].id, 1]])];
  for (const { id } of nodes) {
    const below = children.get(id);
    const block = policy?.[id]?.length === below.length ? policy[id] : null;
    below.forEach((child, at) => reach.set(child, reach.get(id) * (block ? mean(block[at]) : 1 / below.length)));
  }
  return reach;
}

const mean = (values) => values.reduce((a, b) => a + b, 0) / values.length;
