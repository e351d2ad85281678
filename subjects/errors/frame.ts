/** A frame of a stack, as its line says it and as it is compared. */

export type Language = 'dart' | 'dotnet' | 'go' | 'java' | 'javascript' | 'native' | 'php' | 'python' | 'ruby' | 'rust';

/** What a line of a stack says. */
export interface Line {
  readonly language: Language;
  readonly function: string;
  /** Path, URL or class; empty where the line names none. */
  readonly file: string;
  readonly line: number | undefined;
  readonly column: number | undefined;
}

/** What of a line is compared: without numbers, addresses and what differs between builds, machines and browsers. */
export interface FrameName {
  readonly module: string;
  readonly function: string;
  /** Of the program itself, and not of a library or of the language. */
  readonly isInApp: boolean;
  /** Glue that some runtimes show and others do not: native code, generated code, the machinery of throwing. */
  readonly isGlue: boolean;
}

export type Frame = Line & { readonly name: FrameName };

/** Segments of a path or URL, without its origin, query and fragment. */
export const segmentsOf = (path: string): string[] => {
  const end = path.search(/[?#]/);
  return (end < 0 ? path : path.slice(0, end))
    .replace(/^[a-z][a-z0-9+.-]{1,20}:\/\/[^/]{0,255}/i, '')
    .split(/[/\\]/)
    .filter((segment) => segment !== '' && segment !== '.' && segment !== '..');
};

/** Whether a part of a file's name is a hash of its content: `3f2a1b9c`, `BxK3f9aZ`. */
const isHash = (part: string): boolean =>
  /^(?=.{0,63}\d)[0-9a-f]{6,64}$/i.test(part) ||
  (/^\w{8,64}$/.test(part) && /\d/.test(part) && /[a-z]/i.test(part)) ||
  (/^\w{8}$/.test(part) && /[a-z][A-Z]/.test(part) && /[A-Z].*[A-Z]/.test(part));

/** A file's name without the hashes and versions that bundlers put there. */
export const fileNameOf = (segment: string): string => {
  const parts = segment.slice(0, 255).split(/([.-])/);
  const segments: string[] = [];
  // The first part is the name, whatever it looks like, unless nothing but an extension would follow it.
  for (let at = 0; at < parts.length; at += 2) {
    const part = parts[at] ?? '';
    if (at > 0 && isHash(part)) continue;
    segments.push(at === 0 ? '' : (parts[at - 1] ?? ''), at === 0 && isHash(part) ? '*' : part);
  }
  return segments.join('').replace(/(?<!\d)\d+(?:\.\d+)+/g, '*');
};

/** The last segments of a path, which are the same wherever the program is installed. */
export const tailOf = (path: string, count: number): string => {
  const segments = segmentsOf(path);
  return [...segments.slice(-count, -1), fileNameOf(segments.at(-1) ?? '')].join('/');
};
