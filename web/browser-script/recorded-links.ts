/** Links in recorded pages, which would connect to other hosts before anything is loaded. */

const maxDepth = 2_000;

interface Node {
  readonly tagName?: unknown;
  attributes?: Record<string, unknown>;
  readonly childNodes?: unknown;
}

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null;

/**
 * Removes the attributes of `link` elements without inlined styles, in a full snapshot or in added nodes. The policy of
 * the player stops them from loading anything, but does not stop `preconnect` and `dns-prefetch`.
 */
export const removeLinks = (event: unknown): void => {
  const { data } = (event ?? {}) as { readonly data?: { readonly node?: unknown; readonly adds?: unknown } };
  const added = Array.isArray(data?.adds) ? data.adds.map((add: { readonly node?: unknown }) => add?.node) : [];
  const stack: (readonly [node: unknown, depth: number])[] = [data?.node, ...added].map((node) => [node, 0]);
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const [node, depth] = next;
    if (!isNode(node) || depth > maxDepth) continue;
    if (String(node.tagName).toLowerCase() === 'link' && node.attributes?.['_cssText'] === undefined)
      node.attributes = {};
    if (Array.isArray(node.childNodes)) for (const child of node.childNodes) stack.push([child, depth + 1]);
  }
};
