/** Deduplication of consecutive log records */

/** Text by which a record is equal to the record before it */
const keysByMode: Readonly<Record<string, (body: string) => string>> = {
  exact: (body) => body,
  numbers: (body) => body.replace(/\d{1,32}/g, '#'),
  signature: (body) => body.replace(/[\p{L}\d]{1,256}/gu, ''),
};

/** Returns the records without those that repeat the record before them. Other modes keep all records. */
export const removeDuplicates = <Item extends { readonly body: string; readonly level: string }>(
  records: readonly Item[],
  mode: unknown,
): readonly Item[] => {
  const getKey = keysByMode[String(mode)];
  if (getKey === undefined) return records;
  const keys = records.map(({ body, level }) => `${level} ${getKey(body)}`);
  return records.filter((_, index) => index === 0 || keys[index] !== keys[index - 1]);
};
