/** Splits a text into its YAML documents. */

/** A document of a text, as text. */
export interface DocumentText {
  readonly text: string;
  /** Line of its first character, starting at 1. */
  readonly line: number;
}

/** Three hyphens, or dots, at the start of a line. */
const separatorPattern = /(?<![^\n])(?:---|\.\.\.)(?!\S)/g;

/** Returns whether a line is neither empty nor a comment. */
const hasContent = (text: string): boolean => {
  const contentPattern = /\S/g;
  for (let found = contentPattern.exec(text); found !== null; found = contentPattern.exec(text)) {
    if (found[0] !== '#') return true;
    const lineEnd = text.indexOf('\n', found.index);
    if (lineEnd < 0) return false;
    contentPattern.lastIndex = lineEnd;
  }
  return false;
};

const countLineBreaks = (text: string, from: number, to: number): number => {
  let count = 0;
  for (let at = text.indexOf('\n', from); at >= 0 && at < to; at = text.indexOf('\n', at + 1)) count++;
  return count;
};

/** Maximum number of documents in a text. */
export const maxDocuments = 20_000;
const maxSeparators = 5 * maxDocuments;

/**
 * Splits a text at its lines of three hyphens, so that an error in one document does not affect the others. Everything
 * after the maximum number of documents is one more document.
 */
export const splitDocuments = (input: string): DocumentText[] => {
  const text = input.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n');
  const documents: DocumentText[] = [];
  let from = 0;
  let line = 1;
  const addDocument = (at: number): void => {
    const document = text.slice(from, at);
    if (hasContent(document)) documents.push({ text: document, line });
  };
  let separators = 0;
  for (const { index } of text.matchAll(separatorPattern)) {
    separators++;
    if (separators > maxSeparators || documents.length === maxDocuments) break;
    addDocument(Math.max(from, index - 1));
    const lineEnd = text.indexOf('\n', index);
    const next = lineEnd < 0 ? text.length : lineEnd + 1;
    line += countLineBreaks(text, from, next);
    from = next;
  }
  addDocument(text.length);
  return documents;
};
