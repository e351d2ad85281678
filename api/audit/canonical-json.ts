/**
 * JSON Canonicalization Scheme (RFC 8785): members sorted by UTF-16 code units, no white space, numbers and strings as
 * ECMAScript writes them. Two equal values have the same text. Members that are `undefined` are left out.
 */
export const canonicalJson = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .sort(([left], [right]) => (left < right ? -1 : 1))
      .map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`);
    return `{${members.join(',')}}`;
  }
  if (typeof value === 'number' && !Number.isFinite(value)) throw new TypeError(`${value} has no JSON form`);
  return JSON.stringify(value) ?? 'null';
};
