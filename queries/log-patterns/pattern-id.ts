const hashBytes = Buffer.alloc(8);

/**
 * Returns the id of a template in which every variable is `<*>`: a 64-bit hash as 16 hexadecimal digits, the same in
 * every process.
 */
export const hashTemplate = (template: string): string => {
  let low = 0x811c9dc5;
  let high = 0x9747b28c;
  for (let index = 0; index < template.length; index++) {
    const code = template.charCodeAt(index);
    low = Math.imul(low ^ code, 0x01000193);
    high = Math.imul(high ^ code, 0x85ebca6b);
    high ^= high >>> 13;
  }
  hashBytes.writeInt32BE(high ^ (high >>> 16), 0);
  hashBytes.writeInt32BE(low ^ (low >>> 15), 4);
  return hashBytes.toString('hex');
};

/** Template of lines that have no pattern */
export const OTHER_TEMPLATE = '<other>';
export const OTHER_ID: string = hashTemplate(OTHER_TEMPLATE);
