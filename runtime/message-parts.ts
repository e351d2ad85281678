/** Splits lists into parts that fit into messages. */

/** Maximum length of a part in characters, because a message may have at most a megabyte */
const maxPartLength = 128 * 1024;

/** Splits items by the length of their JSON, in their order; one empty part if there are none. */
export const splitIntoParts = <Item>(items: readonly Item[]): Item[][] => {
  const parts: Item[][] = [[]];
  let size = 0;
  for (const item of items) {
    const length = JSON.stringify(item).length;
    if (size > 0 && size + length > maxPartLength) {
      parts.push([]);
      size = 0;
    }
    size += length;
    parts.at(-1)?.push(item);
  }
  return parts;
};
