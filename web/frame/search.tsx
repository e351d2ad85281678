/** The field of a search, with what is wrong in it. */
import { useState } from 'preact/hooks';
import { shownText } from './shown-text.tsx';

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
    <search>
      <form
        class="search"
        onSubmit={(event) => {
          event.preventDefault();
          onSearch(typed);
        }}
      >
        <label for="search">{label}</label>
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
        <button type="submit">Search</button>
        <p class="problem-text" id="search-problem" role="alert">
          {problem === undefined ? '' : shownText(problem)}
        </p>
      </form>
    </search>
  );
};
