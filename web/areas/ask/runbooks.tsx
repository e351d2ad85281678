/**
 * Answers to a question from runbooks: sentences that cite passages, with the results of queries that the passages
 * mention; or only the matching passages
 */
import { useEffect } from 'preact/hooks';
import { ResultView } from '../../charts/result.tsx';
import { ApiQuery } from '../../client/query.ts';
import { readAllParams, readParam, setParams } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { getTimeZoneName } from '../../frame/format-time.ts';
import { ErrorMessage, Freshness } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { listQueryLinks } from '../../frame/query-links.ts';
import { refreshCount, timeRange } from '../../frame/time-range.ts';
import { ScrollRegion } from '../../lists/scroll-region.tsx';
import { QuestionForm } from './box.tsx';
import {
  type Passage,
  type PassageSearchResult,
  type RunbookAnswer,
  runbookAnswerCall,
  searchPassagesCall,
} from './calls.ts';
import { PassageItem, type Source, sourceTitles } from './passage.tsx';

const answerQuery = new ApiQuery(runbookAnswerCall);
const searchQuery = new ApiQuery(searchPassagesCall);

/** Maximum number of displayed passages */
const maxPassages = 30;

const isSource = (text: string): text is Source => text in sourceTitles;
/** Returns the selected sources; empty if all are searched. */
const getSelectedSources = (): readonly Source[] => readAllParams('source').filter(isSource);

const SourceFilter = () => {
  const sources = getSelectedSources();
  return (
    <fieldset class="act">
      <legend>Sources</legend>
      {Object.entries(sourceTitles).map(([source, title]) => (
        <label class="choice" key={source}>
          <input
            type="checkbox"
            checked={isSource(source) && sources.includes(source)}
            onChange={({ currentTarget }) =>
              setParams({
                source: currentTarget.checked
                  ? [...sources, source]
                  : sources.filter((selectedSource) => selectedSource !== source),
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
const SearchLimitations = ({
  coverage: { notRead, embeddings },
}: {
  readonly coverage: Pick<PassageSearchResult, 'notRead' | 'embeddings'>;
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

const Passages = ({ passages }: { readonly passages: readonly Passage[] }) => (
  <ol>
    {passages.map((passage, passageIndex) => (
      <PassageItem
        key={`${passage.source} ${passage.id} ${passage.nth}`}
        passage={passage}
        passageIndex={passageIndex}
      />
    ))}
  </ol>
);

const AnswerSentences = ({
  runbookAnswer: { sentences, reason, model },
}: {
  readonly runbookAnswer: RunbookAnswer;
}) => (
  <>
    {sentences.length === 0 ? <p role="status">No answer: {renderText(reason ?? '')}.</p> : null}
    <ul id="sentences">
      {sentences.map(({ text, passages }, index) => (
        // A sentence may occur twice.
        <li key={`${index} ${text}`}>
          {renderText(text)}{' '}
          {passages.map((passageIndex) => (
            <a key={passageIndex} href={`#passage-${passageIndex}`} aria-label={`Passage ${passageIndex + 1}`}>
              [{passageIndex + 1}]
            </a>
          ))}
        </li>
      ))}
    </ul>
    {model?.used ? (
      <p class="soft">A model wrote this answer from the passages. Unsupported sentences removed: {model.excluded}.</p>
    ) : model?.reason == null ? null : (
      <p class="soft">The model was not used: {renderText(model.reason)}.</p>
    )}
  </>
);

const PassageQueries = ({ passageQueries }: { readonly passageQueries: RunbookAnswer['figures'] }) =>
  passageQueries.length === 0 ? null : (
    <>
      <h2>Metrics in the passages</h2>
      {passageQueries.map((passageQuery, index) => (
        // Two passages may contain the same query.
        <section key={`${index} ${passageQuery.sentence}`} aria-label={passageQuery.sentence}>
          <h3>{renderText(passageQuery.sentence)}</h3>
          <p class="soft">
            {passageQuery.passage === null
              ? 'Mentioned in the question.'
              : `Mentioned in passage ${passageQuery.passage + 1}.`}
          </p>
          {passageQuery.result === null ? (
            <p role="status">{renderText(passageQuery.reason ?? '')}</p>
          ) : (
            <ResultView result={passageQuery.result} title={passageQuery.sentence} />
          )}
          <ul class="links">
            {listQueryLinks(passageQuery).map(([title, to]) => (
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
    <AnswerSentences runbookAnswer={of} />
    <SearchLimitations coverage={of} />
    <PassageQueries passageQueries={of.figures} />
    {of.passages.length === 0 ? null : <h2>Passages</h2>}
    <Passages passages={of.passages} />
  </>
);

const SearchResults = ({ of }: { readonly of: PassageSearchResult }) => (
  <>
    {of.items.length === 0 ? <p role="status">No matching passages.</p> : <h2>Passages</h2>}
    <SearchLimitations coverage={of} />
    <Passages passages={of.items} />
  </>
);

/** Returns the labels of an alert in the address; none if the address has none, or others than texts. */
const readLabels = (): Readonly<Record<string, string>> => {
  try {
    const labels: unknown = JSON.parse(readParam('labels') || '{}');
    return Object.fromEntries(
      Object.entries(Object(labels)).filter(([, value]) => typeof value === 'string'),
    ) as Record<string, string>;
  } catch {
    return {};
  }
};

const runQuestion = (question: string, showsPassagesOnly: boolean): void => {
  const sources = getSelectedSources();
  const sourceFilter = sources.length === 0 ? {} : { sources: [...sources] };
  if (question === '') for (const query of [answerQuery, searchQuery]) query.clear();
  else if (showsPassagesOnly) searchQuery.run({ body: { query: question, limit: maxPassages, ...sourceFilter } });
  else {
    const labels = readLabels();
    answerQuery.run({ body: { question, labels, timeZone: getTimeZoneName(), ...timeRange.value, ...sourceFilter } });
  }
};

export const Runbooks = () => {
  const question = readParam('q');
  const showsPassagesOnly = readParam('view') === 'passages';
  const { from, to } = timeRange.value;
  useEffect(() => {
    runQuestion(question, showsPassagesOnly);
    return () => {
      for (const query of [answerQuery, searchQuery]) query.cancel();
    };
  }, [question, showsPassagesOnly, getSelectedSources().join(), readParam('labels'), from, to, refreshCount.value]);
  const { state } = showsPassagesOnly ? searchQuery : answerQuery;
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
          aria-pressed={showsPassagesOnly}
          onClick={() => setParams({ view: showsPassagesOnly ? '' : 'passages' })}
        >
          Passages only
        </button>
      </QuestionForm>
      <SourceFilter />
      {questionProblem === undefined ? <ErrorMessage error={error} /> : null}
      <ScrollRegion class={isLoading ? 'scrolled old' : 'scrolled'} label="Runbook search results">
        {question === '' ? (
          <p class="soft">Search covers documents, resolved incidents, alert rules and log patterns.</p>
        ) : showsPassagesOnly ? (
          searchResult && <SearchResults of={searchResult} />
        ) : (
          answer && <Answer of={answer} />
        )}
      </ScrollRegion>
      {question === '' ? null : <Freshness queryState={state.value} />}
    </>
  );
};
