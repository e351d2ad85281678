/** Adds an item to the list of a key, which is created if there is none. */
export const addToList = <Key, Item>(lists: Map<Key, Item[]>, key: Key, item: Item): void => {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [item]);
  else list.push(item);
};
