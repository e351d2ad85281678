/** JSON objects that lie in a text one after the other. */
export const jsonObjects = (text: string): object[] => {
  const objects: object[] = [];
  let depth = 0;
  let start = 0;
  let isText = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (isText) {
      if (character === '\\') at++;
      else if (character === '"') isText = false;
    } else if (character === '"') isText = true;
    else if (character === '{' && depth++ === 0) start = at;
    else if (character === '}' && --depth === 0) objects.push(JSON.parse(text.slice(start, at + 1)) as object);
  }
  return objects;
};
