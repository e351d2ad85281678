/** Renders long text in parts, because a browser takes seconds to lay out megabytes */
import { useState } from 'preact/hooks';
import { renderText } from '../frame/display-text.tsx';

/** Number of characters that are displayed initially, and maximum per part of the full text */
const maxCharacters = 20_000;

const numberFormat = new Intl.NumberFormat('en');

/** Splits a text into parts, at line ends if possible. */
const splitText = (text: string): string[] => {
  const parts: string[] = [];
  for (let start = 0; start < text.length; ) {
    const lineEndLimit = start + maxCharacters;
    const lineStart = text.lastIndexOf('\n', lineEndLimit - 1) + 1;
    const end = lineEndLimit < text.length && lineStart > start ? lineStart : lineEndLimit;
    parts.push(text.slice(start, end));
    start = end;
  }
  return parts;
};

/** Text whose start is displayed, with a button for the full text. The browser lays out only visible parts. */
export const LongText = ({ text, lines = false }: { readonly text: string; readonly lines?: boolean }) => {
  const [isExpanded, setIsExpanded] = useState(false);
  if (text.length <= maxCharacters) return <>{renderText(text, { lines })}</>;
  if (isExpanded)
    return (
      <>
        {splitText(text).map((part, at) => (
          <div key={at} class="long">
            {renderText(part, { lines })}
          </div>
        ))}
      </>
    );
  return (
    <>
      {renderText(text.slice(0, maxCharacters), { lines })}…{' '}
      <button type="button" class="mini" onClick={() => setIsExpanded(true)}>
        all {numberFormat.format(text.length)} characters
      </button>
    </>
  );
};
