/** Long text of a sender: a browser takes seconds to lay out megabytes */
import { useState } from 'preact/hooks';
import { shownText } from '../frame/shown-text.tsx';

/** Number of characters displayed at once, and per part of a fully displayed text */
const maxShown = 20_000;

const number = new Intl.NumberFormat('en');

/** Splits a text into parts, at line ends if possible. */
const partsOf = (text: string): string[] => {
  const parts: string[] = [];
  for (let at = 0; at < text.length; ) {
    const lineEndLimit = at + maxShown;
    const line = text.lastIndexOf('\n', lineEndLimit - 1) + 1;
    const end = lineEndLimit < text.length && line > at ? line : lineEndLimit;
    parts.push(text.slice(at, end));
    at = end;
  }
  return parts;
};

/** A long text is displayed in full on demand; the browser only lays out the visible parts. */
export const Long = ({ text, lines = false }: { readonly text: string; readonly lines?: boolean }) => {
  const [isWhole, setWhole] = useState(false);
  if (text.length <= maxShown) return <>{shownText(text, { lines })}</>;
  if (isWhole)
    return (
      <>
        {partsOf(text).map((part, at) => (
          <div key={at} class="long">
            {shownText(part, { lines })}
          </div>
        ))}
      </>
    );
  return (
    <>
      {shownText(text.slice(0, maxShown), { lines })}…{' '}
      <button type="button" class="mini" onClick={() => setWhole(true)}>
        all {number.format(text.length)} characters
      </button>
    </>
  );
};
