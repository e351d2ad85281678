/** Search input with suggestions for field names and values, and validation while the user types */
import { useEffect, useRef, useState } from 'preact/hooks';
import { SearchForm } from '../frame/search.tsx';
import { renderText } from '../frame/shown-text.tsx';
import { insertSuggestion } from './completion.ts';
import { findSearchProblem, type SearchableSignal } from './problem.ts';
import { type Suggest, type SuggestionList, useSuggestions } from './suggestions.ts';

const problemDelayMs = 600;

/** Returns the API's error for the last search, or, after a delay, the validation error of the typed text. */
const useSearchProblem = (
  searchText: string,
  signal: SearchableSignal,
  lastSearch: { value: string; problem: string | undefined },
) => {
  const [localProblem, setLocalProblem] = useState<string>();
  useEffect(() => {
    setLocalProblem(undefined);
    if (searchText === lastSearch.value) return;
    const timer = setTimeout(() => setLocalProblem(findSearchProblem(searchText, signal)), problemDelayMs);
    return () => clearTimeout(timer);
  }, [searchText, lastSearch.value]);
  return {
    problem: searchText === lastSearch.value ? (lastSearch.problem ?? localProblem) : localProblem,
    setLocalProblem,
  };
};

const Options = ({
  suggestionList: { items, input },
  activeIndex,
  onSelect,
}: {
  readonly suggestionList: SuggestionList;
  readonly activeIndex: number;
  readonly onSelect: (text: string) => void;
}) => (
  <div role="listbox" id="search-options" class="options" aria-label={input.kind === 'name' ? 'Fields' : 'Values'}>
    {items.map(({ text, note }, index) => (
      <div
        key={text}
        id={`search-option-${index}`}
        role="option"
        tabIndex={-1}
        aria-selected={index === activeIndex}
        // Prevents the input from losing the focus.
        onPointerDown={(event) => {
          event.preventDefault();
          onSelect(text);
        }}
      >
        <bdi>{text === '' ? '(empty)' : renderText(text)}</bdi>
        {note === undefined ? null : <span class="soft">{note}</span>}
      </div>
    ))}
  </div>
);

export const SearchEditor = ({
  label,
  placeholder,
  value,
  problem: apiProblem,
  signal,
  suggest,
  onSearch,
}: {
  readonly label: string;
  readonly placeholder: string;
  readonly value: string;
  /** Error of the API */
  readonly problem: string | undefined;
  readonly signal: SearchableSignal;
  readonly suggest: Suggest;
  readonly onSearch: (text: string) => void;
}) => {
  const [searchText, setSearchText] = useState(value);
  const inputElement = useRef<HTMLInputElement>(null);
  const { suggested, active, open, close, handleKeyDown } = useSuggestions(suggest);
  const { problem, setLocalProblem } = useSearchProblem(searchText, signal, { value, problem: apiProblem });
  const select = (text: string): void => {
    if (suggested === undefined || inputElement.current === null) return;
    const { text: newText, caret } = insertSuggestion(searchText, suggested.input, text);
    inputElement.current.value = newText;
    inputElement.current.setSelectionRange(caret, caret);
    setSearchText(newText);
    // After a name, suggests its values.
    open(newText, caret);
  };
  const submit = (): void => {
    close();
    const newProblem = findSearchProblem(searchText, signal);
    if (newProblem === undefined) onSearch(searchText);
    else setLocalProblem(newProblem);
  };
  return (
    <SearchForm label={label} problem={problem} onSubmit={submit}>
      <div class="combobox">
        <input
          ref={inputElement}
          id="search"
          data-search
          type="text"
          role="combobox"
          value={searchText}
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
            setSearchText(currentTarget.value);
            open(currentTarget.value, currentTarget.selectionStart ?? currentTarget.value.length);
          }}
          onKeyDown={(event) =>
            handleKeyDown(event, select, () =>
              open(searchText, event.currentTarget.selectionStart ?? searchText.length),
            )
          }
          onBlur={close}
        />
        {suggested === undefined ? null : <Options suggestionList={suggested} activeIndex={active} onSelect={select} />}
      </div>
    </SearchForm>
  );
};
