/** Splits a text into its YAML documents. */

/** The text of one document. */
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
  for (let match = contentPattern.exec(text); match !== null; match = contentPattern.exec(text)) {
    if (match[0] !== '#') return true;
    const lineEnd = text.indexOf('\n', match.index);
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
  let documentStart = 0;
  let line = 1;
  const addDocument = (at: number): void => {
    const document = text.slice(documentStart, at);
    if (hasContent(document)) documents.push({ text: document, line });
  };
  let separators = 0;
  for (const { index } of text.matchAll(separatorPattern)) {
    separators++;
    if (separators > maxSeparators || documents.length === maxDocuments) break;
    addDocument(Math.max(documentStart, index - 1));
    const lineEnd = text.indexOf('\n', index);
    const next = lineEnd < 0 ? text.length : lineEnd + 1;
    line += countLineBreaks(text, documentStart, next);
    documentStart = next;
  }
  addDocument(text.length);
  return documents;
};
