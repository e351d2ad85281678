/** Suggestions below an input, with keyboard navigation */
import { useEffect, useRef, useState } from 'preact/hooks';
import { type Typed, typedAt } from './completion.ts';

export interface Suggestion {
  readonly text: string;
  /** Note next to the suggestion: the number of matching records */
  readonly note?: string;
}

/** Returns suggestions; a failed request has none */
export type Suggest = (typed: Typed, signal: AbortSignal) => Promise<readonly Suggestion[]>;

const suggestAfterMs = 120;

export interface Suggested {
  readonly typed: Typed;
  readonly items: readonly Suggestion[];
}

/** Returns the action of a key in a list of suggestions; a number is the next active one. */
const actOf = (key: string, active: number, count: number): number | 'take' | 'close' | 'ask' | undefined => {
  if (count === 0) return key === 'ArrowDown' ? 'ask' : undefined;
  if (key === 'ArrowDown') return (active + 1) % count;
  if (key === 'ArrowUp') return active <= 0 ? count - 1 : active - 1;
  if (key === 'Escape') return 'close';
  return active >= 0 && (key === 'Enter' || key === 'Tab') ? 'take' : undefined;
};

/** Returns suggestions for the typed text at the cursor, after a delay. */
export const useSuggestions = (suggest: Suggest) => {
  const [suggested, setSuggested] = useState<Suggested>();
  const [active, setActive] = useState(-1);
  const running = useRef<{ readonly cancel: AbortController; readonly timer: ReturnType<typeof setTimeout> }>(
    undefined,
  );
  const close = (): void => {
    clearTimeout(running.current?.timer);
    running.current?.cancel.abort();
    setSuggested(undefined);
    setActive(-1);
  };
  const open = (text: string, caret: number): void => {
    close();
    const typed = typedAt(text, caret);
    if (typed === undefined) return;
    const cancel = new AbortController();
    const find = async (): Promise<void> => {
      const items = await suggest(typed, cancel.signal).catch(() => []);
      const isDone = items.length === 1 && items[0]?.text === typed.prefix;
      if (!cancel.signal.aborted && items.length > 0 && !isDone) setSuggested({ typed, items });
    };
    running.current = { cancel, timer: setTimeout(() => void find(), suggestAfterMs) };
  };
  useEffect(() => close, []);
  /** Moves through the suggestions, accepts one or closes them; without suggestions, arrow down requests some. */
  const handleKeyDown = (event: KeyboardEvent, select: (text: string) => void, openSuggestions: () => void): void => {
    const count = suggested?.items.length ?? 0;
    const act = actOf(event.key, active, count);
    if (act === undefined) return;
    event.preventDefault();
    if (act === 'close') {
      event.stopPropagation();
      close();
    } else if (act === 'take') select(suggested?.items[active]?.text ?? '');
    else if (act === 'ask') openSuggestions();
    else setActive(act);
  };
  return { suggested, active, open, close, handleKeyDown };
};
