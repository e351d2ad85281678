/** Hook for suggestions below an input, with keyboard navigation */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { CompletionInput, InputFormat } from './completion.ts';

export interface Suggestion {
  readonly text: string;
  /** Note next to the suggestion, for example the number of matching records */
  readonly note?: string;
}

/** Returns suggestions for the typed name or value */
export type Suggest = (input: CompletionInput, signal: AbortSignal) => Promise<readonly Suggestion[]>;

const suggestionDelayMs = 120;

export interface SuggestionList {
  readonly input: CompletionInput;
  readonly items: readonly Suggestion[];
}

/** Returns the action of a key in a list of suggestions; a number is the index of the next active suggestion. */
const toKeyAction = (key: string, active: number, count: number): number | 'take' | 'close' | 'ask' | undefined => {
  if (count === 0) return key === 'ArrowDown' ? 'ask' : undefined;
  if (key === 'ArrowDown') return (active + 1) % count;
  if (key === 'ArrowUp') return active <= 0 ? count - 1 : active - 1;
  if (key === 'Escape') return 'close';
  return active >= 0 && (key === 'Enter' || key === 'Tab') ? 'take' : undefined;
};

/** Loads suggestions for the text at the cursor after a delay. */
export const useSuggestions = (format: InputFormat, suggest: Suggest) => {
  const [suggestionList, setSuggestionList] = useState<SuggestionList>();
  const [activeIndex, setActiveIndex] = useState(-1);
  const pendingRequest = useRef<{
    readonly controller: AbortController;
    readonly timer: ReturnType<typeof setTimeout>;
  }>(undefined);
  const close = (): void => {
    clearTimeout(pendingRequest.current?.timer);
    pendingRequest.current?.controller.abort();
    setSuggestionList(undefined);
    setActiveIndex(-1);
  };
  const open = (text: string, caret: number): void => {
    close();
    const input = format.parse(text, caret);
    if (input === undefined) return;
    const controller = new AbortController();
    const loadSuggestions = async (): Promise<void> => {
      const items = await suggest(input, controller.signal).catch(() => []);
      const isComplete = items.length === 1 && items[0]?.text === input.prefix;
      if (!controller.signal.aborted && items.length > 0 && !isComplete) setSuggestionList({ input, items });
    };
    pendingRequest.current = { controller, timer: setTimeout(() => void loadSuggestions(), suggestionDelayMs) };
  };
  useEffect(() => close, []);
  /** Moves through the suggestions, accepts one, or closes them. Without suggestions, arrow down loads them. */
  const handleKeyDown = (event: KeyboardEvent, select: (text: string) => void, openSuggestions: () => void): void => {
    const count = suggestionList?.items.length ?? 0;
    const keyAction = toKeyAction(event.key, activeIndex, count);
    if (keyAction === undefined) return;
    event.preventDefault();
    if (keyAction === 'close') {
      event.stopPropagation();
      close();
    } else if (keyAction === 'take') select(suggestionList?.items[activeIndex]?.text ?? '');
    else if (keyAction === 'ask') openSuggestions();
    else setActiveIndex(keyAction);
  };
  return { suggested: suggestionList, active: activeIndex, open, close, handleKeyDown };
};
