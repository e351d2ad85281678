/** A name of any characters as one part of a cursor, and back. */
export const namePart = (name: string): string => Buffer.from(name).toString('base64url');
export const nameIn = (part: string): string => Buffer.from(part, 'base64url').toString('utf8');
