/** Text of senders: always text. What would change how it reads is shown by its number instead of obeyed. */
import type { ComponentChildren } from 'preact';

/** Control characters, zero-width characters, and what turns the direction of text. */
const hidden = /\p{Cc}|\p{Cf}|\p{Zl}|\p{Zp}|\p{Default_Ignorable_Code_Point}/gu;

const allowedControls = new Set(['\n', '\t']);

/** A text in one piece, and the hidden characters in it as marks. */
export const shownText = (text: string, { lines = false }: { readonly lines?: boolean } = {}): ComponentChildren => {
  const pieces: ComponentChildren[] = [];
  let at = 0;
  for (const { 0: character, index } of text.matchAll(hidden)) {
    if (lines && allowedControls.has(character)) continue;
    pieces.push(text.slice(at, index));
    at = index + character.length;
    pieces.push(allowedControls.has(character) ? ' ' : <span class="hidden-character">{numberOf(character)}</span>);
  }
  if (pieces.length === 0) return text;
  return [...pieces, text.slice(at)];
};

/** A text as it is where nothing in it is hidden, which is a cell of a row by itself. */
export const inCell = (text: string): ComponentChildren => {
  const pieces = shownText(text);
  return typeof pieces === 'string' ? pieces : <bdi>{pieces}</bdi>;
};

const numberOf = (character: string): string =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;

/** The same as one text, for names and titles. */
export const markedText = (text: string): string => text.replace(hidden, numberOf);

/** A value of telemetry as a text. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));
