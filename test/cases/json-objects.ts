const tokens = /"(?:[^"\\]|\\.)*"|[{}]/g;

/** Returns the JSON objects in a text that contains several in sequence. */
export const jsonObjects = (text: string): object[] => {
  const objects: object[] = [];
  let depth = 0;
  let start = 0;
  for (const { 0: token, index } of text.matchAll(tokens)) {
    if (token === '{' && depth++ === 0) start = index;
    if (token === '}' && --depth === 0) objects.push(JSON.parse(text.slice(start, index + 1)) as object);
  }
  return objects;
};
