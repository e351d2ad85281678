/** A frame of a stack, as parsed from its line and as compared */

/** `other`: frames of another language, recognized by their file and line alone */
export type Language =
  | 'dart'
  | 'dotnet'
  | 'go'
  | 'java'
  | 'javascript'
  | 'native'
  | 'other'
  | 'php'
  | 'python'
  | 'ruby'
  | 'rust';

/** A parsed line of a stack */
export interface Line {
  readonly language: Language;
  readonly function: string;
  /** Path, URL or class; empty if the line has none */
  readonly file: string;
  readonly line: number | undefined;
  readonly column: number | undefined;
}

/** Compared part of a line: without numbers, addresses and parts that differ between builds, machines and browsers */
export interface FrameName {
  readonly module: string;
  readonly function: string;
  /** Whether the frame belongs to the program itself, not to a library or the language */
  readonly isInApp: boolean;
  /** Whether the frame is runtime glue that some runtimes hide: native code, generated code, exception machinery */
  readonly isGlue: boolean;
}

export type Frame = Line & { readonly name: FrameName };

/** Returns the segments of a path or URL, without its origin, query and fragment. */
export const splitPath = (path: string): string[] => {
  const end = path.search(/[?#]/);
  return (end < 0 ? path : path.slice(0, end))
    .replace(/^[a-z][a-z0-9+.-]{1,20}:\/\/[^/]{0,255}/i, '')
    .split(/[/\\]/)
    .filter((segment) => segment !== '' && segment !== '.' && segment !== '..');
};

/** Returns whether a part of a file name is a content hash: `3f2a1b9c`, `BxK3f9aZ`. */
const isHash = (part: string): boolean =>
  /^(?=.{0,63}\d)[0-9a-f]{6,64}$/i.test(part) ||
  (/^\w{8,64}$/.test(part) && /\d/.test(part) && /[a-z]/i.test(part)) ||
  (/^\w{8}$/.test(part) && /[a-z][A-Z]/.test(part) && /[A-Z].*[A-Z]/.test(part));

/** Returns a file name without the hashes, versions and numbers that bundlers add. */
export const normalizeFileName = (segment: string): string => {
  const plain = segment.slice(0, 255).replace(/(?<!_)_+[0-9a-f]{6,64}(?=\._\.js$)/, '');
  const parts = plain.split(/([.-])/);
  const segments: string[] = [];
  // The first part is the name in any case, unless only an extension would follow.
  for (let at = 0; at < parts.length; at += 2) {
    const part = parts[at] ?? '';
    if (at > 0 && isHash(part)) continue;
    segments.push(at === 0 ? '' : (parts[at - 1] ?? ''), at === 0 && (isHash(part) || /^\d+$/.test(part)) ? '*' : part);
  }
  return segments.join('').replace(/(?<!\d)\d+(?:\.\d+)+/g, '*');
};

/** Returns the last segments of a path, which are the same for every installation directory. */
export const getPathEnd = (path: string, count: number): string => {
  const segments = splitPath(path);
  return [...segments.slice(-count, -1), normalizeFileName(segments.at(-1) ?? '')].join('/');
};
