/** Search input with suggestions for field names and values, and validation while the user types */
import { useEffect, useState } from 'preact/hooks';
import { SearchForm } from '../frame/search.tsx';
import { searchFormat } from './completion.ts';
import { findSearchProblem, type SearchableSignal } from './problem.ts';
import { recordQuery } from './query-history.ts';
import { QueryHistoryMenu } from './query-history-menu.tsx';
import { SuggestedInput } from './suggested-input.tsx';
import type { Suggest } from './suggestions.ts';

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
  readonly signal: 'logs' | 'traces';
  readonly suggest: Suggest;
  readonly onSearch: (text: string) => void;
}) => {
  const [searchText, setSearchText] = useState(value);
  const { problem, setLocalProblem } = useSearchProblem(searchText, signal, { value, problem: apiProblem });
  useEffect(() => {
    if (findSearchProblem(value, signal) === undefined)
      recordQuery(signal, { title: value.trim(), parameters: { search: value.trim(), record: '', pattern: '' } });
  }, [value]);
  const submit = (): void => {
    const newProblem = findSearchProblem(searchText, signal);
    if (newProblem === undefined) onSearch(searchText);
    else setLocalProblem(newProblem);
  };
  return (
    <SearchForm label={label} problem={problem} onSubmit={submit} actions={<QueryHistoryMenu explorer={signal} />}>
      <SuggestedInput
        id="search"
        value={searchText}
        format={searchFormat}
        suggest={suggest}
        placeholder={placeholder}
        isSearch={true}
        isInvalid={problem !== undefined}
        describedBy="search-problem"
        onChange={setSearchText}
      />
    </SearchForm>
  );
};
