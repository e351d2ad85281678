/** Work for `budget-threads.test.ts`: makes a list of so many things in memory. */
export const lengthOfList = (length: number): number => {
  const list: { readonly index: number }[] = [];
  for (let index = 0; index < length; index++) list.push({ index });
  return list.length;
};
