/** Search input with its error */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { shownText } from './shown-text.tsx';

/** Content around the input, whose id is `search` and which `search-problem` describes. */
export const SearchForm = ({
  label,
  problem,
  onSubmit,
  children,
}: {
  readonly label: string;
  readonly problem: string | undefined;
  readonly onSubmit: () => void;
  readonly children: ComponentChildren;
}) => (
  <search>
    <form
      class="search"
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      <label for="search">{label}</label>
      {children}
      <button type="submit">Search</button>
      <p class="problem-text" id="search-problem" role="alert">
        {problem === undefined ? '' : shownText(problem)}
      </p>
    </form>
  </search>
);

export const Search = ({
  label,
  placeholder,
  value,
  problem,
  onSearch,
}: {
  readonly label: string;
  readonly placeholder: string;
  readonly value: string;
  readonly problem: string | undefined;
  readonly onSearch: (text: string) => void;
}) => {
  const [typed, setTyped] = useState(value);
  return (
    <SearchForm label={label} problem={problem} onSubmit={() => onSearch(typed)}>
      <input
        id="search"
        data-search
        type="search"
        value={typed}
        maxLength={1024}
        autocomplete="off"
        spellcheck={false}
        placeholder={placeholder}
        aria-invalid={problem !== undefined}
        aria-describedby="search-problem"
        onInput={({ currentTarget }) => setTyped(currentTarget.value)}
      />
    </SearchForm>
  );
};
