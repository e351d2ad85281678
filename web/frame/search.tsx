/** Search forms with a validation error */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { renderText } from './display-text.tsx';

/** Form around a search input. The input must have the id `search`, and `search-problem` must describe it. */
export const SearchForm = ({
  label,
  problem,
  onSubmit,
  actions,
  children,
}: {
  readonly label: string;
  readonly problem: string | undefined;
  readonly onSubmit: () => void;
  /** Content after the search button */
  readonly actions?: ComponentChildren;
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
      <label for="search" class="sr-only">
        {label}
      </label>
      {children}
      <button type="submit" class="plain">
        Search
      </button>
      {actions}
      <p class="problem-text" id="search-problem" role="alert">
        {problem === undefined ? '' : renderText(problem)}
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
  const [searchText, setSearchText] = useState(value);
  return (
    <SearchForm label={label} problem={problem} onSubmit={() => onSearch(searchText)}>
      <input
        id="search"
        data-search
        type="search"
        value={searchText}
        maxLength={1024}
        autocomplete="off"
        spellcheck={false}
        placeholder={placeholder}
        aria-invalid={problem !== undefined}
        aria-describedby="search-problem"
        onInput={({ currentTarget }) => setSearchText(currentTarget.value)}
      />
    </SearchForm>
  );
};
