/** Finds characters of texts from senders that would hide or reorder text */

/** Control characters, zero-width characters, and characters that change the text direction */
const hiddenCharacters = /\p{Cc}|\p{Cf}|\p{Zl}|\p{Zp}|\p{Default_Ignorable_Code_Point}/gu;

const pictograph = /(?:\p{Extended_Pictographic}|\p{Emoji_Modifier}|\p{Regional_Indicator})$/u;
const startsWithPictograph = /^\p{Extended_Pictographic}/u;
const keycap = '\u20E3';
const variationSelector = /[\uFE0E\uFE0F]/;
const joiner = '\u200D';

/** Returns whether a variation selector or joiner is a part of an emoji, as in ⚠️ and 👩‍💻. */
const isPartOfEmoji = (character: string, before: string, after: string): boolean => {
  if (variationSelector.test(character))
    return pictograph.test(before) || (/[0-9#*]$/.test(before) && after.startsWith(keycap));
  return (
    character === joiner && pictograph.test(before.replace(/[\uFE0E\uFE0F]$/, '')) && startsWithPictograph.test(after)
  );
};

export interface HiddenCharacter {
  readonly character: string;
  readonly index: number;
}

/** Code units before and after a character that can belong to the same emoji */
const emojiContext = 4;

/** Returns the hidden characters of a text with their indexes. Those that are a part of an emoji are none. */
export const findHiddenCharacters = (text: string): readonly HiddenCharacter[] =>
  Array.from(text.matchAll(hiddenCharacters), ({ 0: character, index }) => ({ character, index })).filter(
    ({ character, index }) =>
      !isPartOfEmoji(
        character,
        text.slice(Math.max(0, index - emojiContext), index),
        text.slice(index + character.length, index + character.length + emojiContext),
      ),
  );

/** Returns the code point of a character, for example `U+202E`. */
export const toCodePoint = (character: string): string =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;

/** Returns a text with its hidden characters as code points, for attributes such as `title`. */
export const markHiddenCharacters = (text: string): string => {
  let marked = '';
  let position = 0;
  for (const { character, index } of findHiddenCharacters(text)) {
    marked += text.slice(position, index) + toCodePoint(character);
    position = index + character.length;
  }
  return marked + text.slice(position);
};
