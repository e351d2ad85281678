/** Work for `budget-threads.test.ts`: creates a list with the given number of items in memory. */
export const lengthOfList = (length: number): number => {
  const list: { readonly index: number }[] = [];
  for (let index = 0; index < length; index++) list.push({ index });
  return list.length;
};
