/** Finds variables in texts: `$name`, `${name}`, `${name.part:format}`, `[[name]]` and `[[name:format]]`. */
import type { Scope } from './scope.ts';

/** A reference to a variable, from `start` up to `end`. */
export interface Reference {
  readonly start: number;
  readonly end: number;
  readonly name: string;
  readonly format: string | undefined;
}

/**
 * Matches a reference. The lengths of names and formats are limited, so that the scan takes limited time at each
 * position.
 */
const referencePattern =
  /\$(?<plain>\w{1,64})(?!\w)|\$\{(?<braced>\w{1,64})(?:\.(?<part>[^:{}]{1,128}))?(?::(?<format>[^{}]{1,128}))?\}|\[\[(?<old>\w{1,64})(?::(?<oldFormat>\w{1,64}))?\]\]/g;

interface Groups {
  readonly plain?: string;
  readonly braced?: string;
  readonly part?: string;
  readonly format?: string;
  readonly old?: string;
  readonly oldFormat?: string;
}

/**
 * Returns all references to known names in a text, from left to right. Unknown names are text, such as `$1` in a replacement.
 */
export const findReferences = (text: string, knownNames: Pick<Scope, 'has'>): readonly Reference[] =>
  [...text.matchAll(referencePattern)].flatMap((match) => {
    const { plain, braced, part, format, old, oldFormat } = match.groups as Groups;
    const name = plain ?? braced ?? old ?? '';
    if (part !== undefined || !knownNames.has(name)) return [];
    return [{ start: match.index, end: match.index + match[0].length, name, format: format ?? oldFormat }];
  });

/** Returns the names that a text may use, each once, whether such variables exist or not. */
export const listReferencedNames = (text: string): readonly string[] => [
  ...new Set(findReferences(text, { has: () => true }).map(({ name }) => name)),
];

/** A text with every variable replaced by a mark, so that a parser accepts it. */
export interface Template {
  readonly text: string;
  /** References, with the positions of their marks in the template. */
  readonly marks: readonly (Reference & { readonly at: number; readonly length: number })[];
}

/** Returns the template of a text. `createMark` returns the mark for a position; without one the reference is unchanged. */
export const createTemplate = (
  text: string,
  references: readonly Reference[],
  createMark: (before: string, from: number) => string | undefined,
): Template => {
  let template = '';
  let from = 0;
  const marks: { at: number; length: number; start: number; end: number; name: string; format: string | undefined }[] =
    [];
  for (const reference of references) {
    const templateStart = template.length;
    template += text.slice(from, reference.start);
    const mark = createMark(template, templateStart);
    if (mark !== undefined) marks.push({ ...reference, at: template.length, length: mark.length });
    template += mark ?? text.slice(reference.start, reference.end);
    from = reference.end;
  }
  return { text: template + text.slice(from), marks };
};

/** Returns the pieces of a template from `start` up to `end`: texts, and references between them. */
export const splitTemplate = (template: Template, start: number, end: number): readonly (string | Reference)[] => {
  const parts: (string | Reference)[] = [];
  let from = start;
  for (const mark of template.marks) {
    if (mark.at < start || mark.at >= end) continue;
    if (mark.at > from) parts.push(template.text.slice(from, mark.at));
    parts.push(mark);
    from = mark.at + mark.length;
  }
  if (from < end) parts.push(template.text.slice(from, end));
  return parts;
};
