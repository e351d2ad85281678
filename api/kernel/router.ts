/**
 * Finds what answers a path. Literal segments outrank parameters, wherever they stand, whatever the order in which
 * routes were added; a parameter never matches an empty segment.
 */
export interface Router<Route> {
  add(method: string, path: string, route: Route): void;
  /** `route` is absent where the path exists but not for this method: `allowed` then names the methods it has. `undefined`: no such path. */
  find(
    method: string,
    segments: readonly string[],
  ): { route: Route | undefined; params: Record<string, string>; allowed: readonly string[] } | undefined;
}

interface Node<Route> {
  readonly literals: Map<string, Node<Route>>;
  parameter: Node<Route> | undefined;
  readonly routes: Map<string, { readonly route: Route; readonly names: readonly string[] }>;
}

const makeNode = <Route>(): Node<Route> => ({ literals: new Map(), parameter: undefined, routes: new Map() });

export const makeRouter = <Route>(): Router<Route> => {
  const root = makeNode<Route>();

  return {
    add(method, path, route) {
      const names: string[] = [];
      let node = root;
      for (const segment of path.split('/').slice(1)) {
        const parameter = /^\{(\w+)\}$/.exec(segment)?.[1];
        if (parameter !== undefined) {
          names.push(parameter);
          node.parameter ??= makeNode();
          node = node.parameter;
        } else {
          const next = node.literals.get(segment) ?? makeNode<Route>();
          node.literals.set(segment, next);
          node = next;
        }
      }
      if (node.routes.has(method)) throw new Error(`${method} ${path} is declared twice`);
      node.routes.set(method, { route, names });
    },

    find(method, segments) {
      const ends: End<Route>[] = [];
      endsOf(root, segments, 0, [], ends);
      const end = ends.find(({ node }) => node.routes.has(method));
      const found = end?.node.routes.get(method);
      if (end !== undefined && found !== undefined)
        return { route: found.route, params: paramsOf(found.names, end.values), allowed: [] };
      const allowed = new Set(ends.flatMap(({ node }) => [...node.routes.keys()]));
      return ends.length === 0 ? undefined : { route: undefined, params: {}, allowed: [...allowed].sort() };
    },
  };
};

/** A place in the tree where a path may end, with the values that its parameters took on the way. */
interface End<Route> {
  readonly node: Node<Route>;
  readonly values: readonly string[];
}

/** Collects every end of a path, the most literal first. */
const endsOf = <Route>(
  node: Node<Route>,
  segments: readonly string[],
  depth: number,
  values: readonly string[],
  ends: End<Route>[],
): void => {
  const segment = segments[depth];
  if (segment === undefined) {
    if (node.routes.size > 0) ends.push({ node, values });
    return;
  }
  const literal = node.literals.get(segment);
  if (literal !== undefined) endsOf(literal, segments, depth + 1, values, ends);
  if (node.parameter !== undefined && segment !== '')
    endsOf(node.parameter, segments, depth + 1, [...values, segment], ends);
};

const paramsOf = (names: readonly string[], values: readonly string[]): Record<string, string> => {
  const params: Record<string, string> = {};
  for (let index = 0; index < names.length; index++) params[names[index] ?? ''] = values[index] ?? '';
  return params;
};
