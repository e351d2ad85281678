/** Search input with suggestions of names and values, and validation while typing */
import { useEffect, useRef, useState } from 'preact/hooks';
import { SearchForm } from '../frame/search.tsx';
import { shownText } from '../frame/shown-text.tsx';
import { insertSuggestion } from './completion.ts';
import { type SearchedSignal, searchProblem } from './problem.ts';
import { type Suggest, type Suggested, useSuggestions } from './suggestions.ts';

const problemDelayMs = 600;

/** Error of the API for the sent search, or of the validation of the typed one after a delay. */
const useProblem = (
  typed: string,
  signal: SearchedSignal,
  lastSearch: { value: string; problem: string | undefined },
) => {
  const [localProblem, setLocalProblem] = useState<string>();
  useEffect(() => {
    setLocalProblem(undefined);
    if (typed === lastSearch.value) return;
    const timer = setTimeout(() => setLocalProblem(searchProblem(typed, signal)), problemDelayMs);
    return () => clearTimeout(timer);
  }, [typed, lastSearch.value]);
  return { problem: typed === lastSearch.value ? (lastSearch.problem ?? localProblem) : localProblem, setLocalProblem };
};

const Options = ({
  suggested: { items, typed },
  active,
  onSelect,
}: {
  readonly suggested: Suggested;
  readonly active: number;
  readonly onSelect: (text: string) => void;
}) => (
  <div role="listbox" id="search-options" class="options" aria-label={typed.is === 'name' ? 'Fields' : 'Values'}>
    {items.map(({ text, note }, index) => (
      <div
        key={text}
        id={`search-option-${index}`}
        role="option"
        tabIndex={-1}
        aria-selected={index === active}
        // The input retains the focus.
        onPointerDown={(event) => {
          event.preventDefault();
          onSelect(text);
        }}
      >
        <bdi>{text === '' ? '(empty)' : shownText(text)}</bdi>
        {note === undefined ? null : <span class="soft">{note}</span>}
      </div>
    ))}
  </div>
);

export const SearchEditor = ({
  label,
  placeholder,
  value,
  problem: answered,
  signal,
  suggest,
  onSearch,
}: {
  readonly label: string;
  readonly placeholder: string;
  readonly value: string;
  /** Error of the API */
  readonly problem: string | undefined;
  readonly signal: SearchedSignal;
  readonly suggest: Suggest;
  readonly onSearch: (text: string) => void;
}) => {
  const [typed, setTyped] = useState(value);
  const field = useRef<HTMLInputElement>(null);
  const { suggested, active, open, close, handleKeyDown } = useSuggestions(suggest);
  const { problem, setLocalProblem } = useProblem(typed, signal, { value, problem: answered });
  const select = (text: string): void => {
    if (suggested === undefined || field.current === null) return;
    const { text: next, caret } = insertSuggestion(typed, suggested.typed, text);
    field.current.value = next;
    field.current.setSelectionRange(caret, caret);
    setTyped(next);
    // A name is followed by its values.
    open(next, caret);
  };
  const submit = (): void => {
    close();
    const wrong = searchProblem(typed, signal);
    if (wrong === undefined) onSearch(typed);
    else setLocalProblem(wrong);
  };
  return (
    <SearchForm label={label} problem={problem} onSubmit={submit}>
      <div class="combobox">
        <input
          ref={field}
          id="search"
          data-search
          type="text"
          role="combobox"
          value={typed}
          maxLength={1024}
          autocomplete="off"
          spellcheck={false}
          placeholder={placeholder}
          aria-autocomplete="list"
          aria-expanded={suggested !== undefined}
          aria-controls={suggested === undefined ? undefined : 'search-options'}
          aria-activedescendant={active < 0 ? undefined : `search-option-${active}`}
          aria-invalid={problem !== undefined}
          aria-describedby="search-problem"
          onInput={({ currentTarget }) => {
            setTyped(currentTarget.value);
            open(currentTarget.value, currentTarget.selectionStart ?? currentTarget.value.length);
          }}
          onKeyDown={(event) =>
            handleKeyDown(event, select, () => open(typed, event.currentTarget.selectionStart ?? typed.length))
          }
          onBlur={close}
        />
        {suggested === undefined ? null : <Options suggested={suggested} active={active} onSelect={select} />}
      </div>
    </SearchForm>
  );
};
