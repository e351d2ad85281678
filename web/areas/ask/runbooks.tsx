/**
 * Answers to a question from runbooks: sentences that cite passages, with the results of queries that the passages
 * mention; or only the matching passages
 */
import { useEffect } from 'preact/hooks';
import { ResultView } from '../../charts/result.tsx';
import { ApiQuery } from '../../client/query.ts';
import { readAllParams, readParam, setParams } from '../../frame/address.ts';
import { ErrorMessage, Freshness } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { listQueryLinks } from '../../frame/query-links.ts';
import { renderText } from '../../frame/shown-text.tsx';
import { refreshCount, timeRange } from '../../frame/time-range.ts';
import { ScrollRegion } from '../../lists/scrolled.tsx';
import { QuestionForm } from './box.tsx';
import {
  type Passage,
  type PassageSearchResult,
  passagesCall,
  type RunbookAnswer,
  runbookAnswerCall,
  timeZoneName,
} from './calls.ts';
import { PassageItem, type Source, sourceTitles } from './passage.tsx';

const answerQuery = new ApiQuery(runbookAnswerCall);
const searchQuery = new ApiQuery(passagesCall);

/** Maximum number of displayed passages */
const maxPassages = 30;

const isSource = (text: string): text is Source => text in sourceTitles;
/** Returns the selected sources; empty if all are searched. */
const selectedSources = (): readonly Source[] => readAllParams('source').filter(isSource);

const SourceFilter = () => {
  const chosen = selectedSources();
  return (
    <fieldset class="act">
      <legend>Sources</legend>
      {Object.entries(sourceTitles).map(([source, title]) => (
        <label class="choice" key={source}>
          <input
            type="checkbox"
            checked={isSource(source) && chosen.includes(source)}
            onChange={({ currentTarget }) =>
              setParams({
                source: currentTarget.checked ? [...chosen, source] : chosen.filter((each) => each !== source),
              })
            }
          />{' '}
          {title}
        </label>
      ))}
    </fieldset>
  );
};

/** Sources that were not searched, and search methods that were not available. */
const Limitations = ({
  of: { notRead, embeddings },
}: {
  readonly of: Pick<PassageSearchResult, 'notRead' | 'embeddings'>;
}) => (
  <>
    {notRead.map(({ source, reason }) => (
      <p key={source} class="soft">
        Not searched: {sourceTitles[source]}; {renderText(reason)}.
      </p>
    ))}
    {embeddings === null || embeddings.reason === null ? null : (
      <p class="soft">
        {embeddings.used
          ? `${embeddings.without} passages were searched by keyword only`
          : 'Passages were searched by keyword only'}
        : {renderText(embeddings.reason)}.
      </p>
    )}
  </>
);

const Passages = ({ of }: { readonly of: readonly Passage[] }) => (
  <ol>
    {of.map((passage, nth) => (
      <PassageItem key={`${passage.source} ${passage.id} ${passage.nth}`} of={passage} passageIndex={nth} />
    ))}
  </ol>
);

const Sentences = ({ of: { sentences, reason, model } }: { readonly of: RunbookAnswer }) => (
  <>
    {sentences.length === 0 ? <p role="status">No answer: {renderText(reason ?? '')}.</p> : null}
    <ul id="sentences">
      {sentences.map(({ text, passages }, index) => (
        // A sentence may occur twice.
        <li key={`${index} ${text}`}>
          {renderText(text)}{' '}
          {passages.map((nth) => (
            <a key={nth} href={`#passage-${nth}`} aria-label={`Passage ${nth + 1}`}>
              [{nth + 1}]
            </a>
          ))}
        </li>
      ))}
    </ul>
    {model?.used ? (
      <p class="soft">
        A model wrote this answer from the passages; unsupported sentences removed: {model.excluded} in total.
      </p>
    ) : model?.reason == null ? null : (
      <p class="soft">The model was not used: {renderText(model.reason)}.</p>
    )}
  </>
);

const PassageQueries = ({ of }: { readonly of: RunbookAnswer['figures'] }) =>
  of.length === 0 ? null : (
    <>
      <h2>Metrics in the passages</h2>
      {of.map((figure, index) => (
        // Two passages may contain the same query.
        <section key={`${index} ${figure.sentence}`} aria-label={figure.sentence}>
          <h3>{renderText(figure.sentence)}</h3>
          <p class="soft">
            {figure.passage === null ? 'Mentioned in the question.' : `Mentioned in passage ${figure.passage + 1}.`}
          </p>
          {figure.result === null ? (
            <p role="status">{renderText(figure.reason ?? '')}</p>
          ) : (
            <ResultView result={figure.result} title={figure.sentence} />
          )}
          <ul class="links">
            {listQueryLinks(figure).map(([title, to]) => (
              <li key={title}>
                <Link url={to}>{title}</Link>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </>
  );

const Answer = ({ of }: { readonly of: RunbookAnswer }) => (
  <>
    <Sentences of={of} />
    <Limitations of={of} />
    <PassageQueries of={of.figures} />
    {of.passages.length === 0 ? null : <h2>Passages</h2>}
    <Passages of={of.passages} />
  </>
);

const SearchResults = ({ of }: { readonly of: PassageSearchResult }) => (
  <>
    {of.items.length === 0 ? <p role="status">No matching passages.</p> : <h2>Passages</h2>}
    <Limitations of={of} />
    <Passages of={of.items} />
  </>
);

const runQuestion = (question: string, passagesOnly: boolean): void => {
  const chosen = selectedSources();
  const sourceFilter = chosen.length === 0 ? {} : { sources: [...chosen] };
  if (question === '') for (const each of [answerQuery, searchQuery]) each.clear();
  else if (passagesOnly) searchQuery.run({ body: { query: question, limit: maxPassages, ...sourceFilter } });
  else answerQuery.run({ body: { question, timeZone: timeZoneName(), ...timeRange.value, ...sourceFilter } });
};

export const Runbooks = () => {
  const question = readParam('q');
  const isPassages = readParam('view') === 'passages';
  const { from, to } = timeRange.value;
  useEffect(() => {
    runQuestion(question, isPassages);
    return () => {
      for (const each of [answerQuery, searchQuery]) each.cancel();
    };
  }, [question, isPassages, selectedSources().join(), from, to, refreshCount.value]);
  const { state } = isPassages ? searchQuery : answerQuery;
  const { error, isLoading } = state.value;
  const questionProblem = error?.of('question') ?? error?.of('query');
  const [answer, searchResult] = [answerQuery.state.value.response, searchQuery.state.value.response];
  return (
    <>
      <QuestionForm
        key={question}
        label="Search runbooks"
        placeholder="what to do when orders are lost"
        question={question}
        problem={questionProblem}
      >
        <button
          type="button"
          class="plain"
          aria-pressed={isPassages}
          onClick={() => setParams({ view: isPassages ? '' : 'passages' })}
        >
          Passages only
        </button>
      </QuestionForm>
      <SourceFilter />
      {questionProblem === undefined ? <ErrorMessage error={error} /> : null}
      <ScrollRegion class={isLoading ? 'scrolled old' : 'scrolled'} label="Runbook search results">
        {question === '' ? (
          <p class="soft">Search covers documents, resolved incidents, alert rules, log patterns and the handbook.</p>
        ) : isPassages ? (
          searchResult && <SearchResults of={searchResult} />
        ) : (
          answer && <Answer of={answer} />
        )}
      </ScrollRegion>
      {question === '' ? null : <Freshness queryState={state.value} />}
    </>
  );
};
