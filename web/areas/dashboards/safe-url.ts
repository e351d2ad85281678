/** Addresses that other users entered */

/** Returns whether a URL is safe to link to: other users can enter any URL. */
export const isSafeUrl = (url: string): boolean => /^(?:https?:\/\/|\/(?![/\\]))/i.test(url);
