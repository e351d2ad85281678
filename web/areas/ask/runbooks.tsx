/**
 * Runbook results for a question: sentences with cited passages and the values of queries in them, or the passages
 * alone
 */
import { useEffect } from 'preact/hooks';
import { ResultShown } from '../../charts/result.tsx';
import { ApiQuery } from '../../client/query.ts';
import { waysTo } from '../../editors/ways.ts';
import { allInAddress, change, inAddress } from '../../frame/address.ts';
import { Freshness, Problem } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { shownText } from '../../frame/shown-text.tsx';
import { refreshes, writtenRange } from '../../frame/time-range.ts';
import { Scrolled } from '../../lists/scrolled.tsx';
import { Box } from './box.tsx';
import { answerCall, type FoundPassages, type Passage, passagesCall, type RunbookAnswer, zoneName } from './calls.ts';
import { PassageShown, type Source, sources } from './passage.tsx';

const answering = new ApiQuery(answerCall);
const searching = new ApiQuery(passagesCall);

/** Maximum number of displayed passages */
const maxPassages = 30;

const isSource = (text: string): text is Source => text in sources;
/** Returns the selected sources; empty if all are searched. */
const chosenSources = (): readonly Source[] => allInAddress('source').filter(isSource);

const Sources = () => {
  const chosen = chosenSources();
  return (
    <fieldset class="act">
      <legend>Sources</legend>
      {Object.entries(sources).map(([source, title]) => (
        <label class="choice" key={source}>
          <input
            type="checkbox"
            checked={isSource(source) && chosen.includes(source)}
            onChange={({ currentTarget }) =>
              change({
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
  readonly of: Pick<FoundPassages, 'notRead' | 'embeddings'>;
}) => (
  <>
    {notRead.map(({ source, reason }) => (
      <p key={source} class="soft">
        Not searched: {sources[source]}; {shownText(reason)}.
      </p>
    ))}
    {embeddings === null || embeddings.reason === null ? null : (
      <p class="soft">
        {embeddings.used
          ? `${embeddings.without} passages were searched by keyword only`
          : 'Passages were searched by keyword only'}
        : {shownText(embeddings.reason)}.
      </p>
    )}
  </>
);

const Passages = ({ of }: { readonly of: readonly Passage[] }) => (
  <ol>
    {of.map((passage, nth) => (
      <PassageShown key={`${passage.source} ${passage.id} ${passage.nth}`} of={passage} nth={nth} />
    ))}
  </ol>
);

const Sentences = ({ of: { sentences, reason, model } }: { readonly of: RunbookAnswer }) => (
  <>
    {sentences.length === 0 ? <p role="status">No answer: {shownText(reason ?? '')}.</p> : null}
    <ul id="sentences">
      {sentences.map(({ text, passages }, index) => (
        // A sentence may occur twice.
        <li key={`${index} ${text}`}>
          {shownText(text)}{' '}
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
      <p class="soft">The model was not used: {shownText(model.reason)}.</p>
    )}
  </>
);

const Figures = ({ of }: { readonly of: RunbookAnswer['figures'] }) =>
  of.length === 0 ? null : (
    <>
      <h2>Metrics in the passages</h2>
      {of.map((figure, index) => (
        // Two passages may contain the same query.
        <section key={`${index} ${figure.sentence}`} aria-label={figure.sentence}>
          <h3>{shownText(figure.sentence)}</h3>
          <p class="soft">
            {figure.passage === null ? 'Named in the question.' : `Named in passage ${figure.passage + 1}.`}
          </p>
          {figure.result === null ? (
            <p role="status">{shownText(figure.reason ?? '')}</p>
          ) : (
            <ResultShown result={figure.result} title={figure.sentence} />
          )}
          <ul class="links">
            {waysTo(figure).map(([title, to]) => (
              <li key={title}>
                <Link to={to}>{title}</Link>
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
    <Figures of={of.figures} />
    {of.passages.length === 0 ? null : <h2>Passages</h2>}
    <Passages of={of.passages} />
  </>
);

const Found = ({ of }: { readonly of: FoundPassages }) => (
  <>
    {of.items.length === 0 ? <p role="status">No matching passages.</p> : <h2>Passages</h2>}
    <Limitations of={of} />
    <Passages of={of.items} />
  </>
);

const runQuestion = (question: string, isPassages: boolean): void => {
  const chosen = chosenSources();
  const only = chosen.length === 0 ? {} : { sources: [...chosen] };
  if (question === '') for (const each of [answering, searching]) each.clear();
  else if (isPassages) searching.run({ body: { query: question, limit: maxPassages, ...only } });
  else answering.run({ body: { question, timeZone: zoneName(), ...writtenRange.value, ...only } });
};

export const Runbooks = () => {
  const question = inAddress('q');
  const isPassages = inAddress('view') === 'passages';
  const { from, to } = writtenRange.value;
  useEffect(() => {
    runQuestion(question, isPassages);
    return () => {
      for (const each of [answering, searching]) each.cancel();
    };
  }, [question, isPassages, chosenSources().join(), from, to, refreshes.value]);
  const { state } = isPassages ? searching : answering;
  const { error, isLoading } = state.value;
  const atQuestion = error?.of('question') ?? error?.of('query');
  const [answer, found] = [answering.state.value.answer, searching.state.value.answer];
  return (
    <>
      <Box
        key={question}
        label="Search runbooks"
        placeholder="what to do when orders are lost"
        question={question}
        problem={atQuestion}
      >
        <button
          type="button"
          class="plain"
          aria-pressed={isPassages}
          onClick={() => change({ view: isPassages ? '' : 'passages' })}
        >
          Passages only
        </button>
      </Box>
      <Sources />
      {atQuestion === undefined ? <Problem error={error} /> : null}
      <Scrolled class={isLoading ? 'scrolled old' : 'scrolled'} label="Runbook search results">
        {question === '' ? (
          <p class="soft">Search covers documents, resolved incidents, alert rules, log patterns and the handbook.</p>
        ) : isPassages ? (
          found && <Found of={found} />
        ) : (
          answer && <Answer of={answer} />
        )}
      </Scrolled>
      {question === '' ? null : <Freshness of={state.value} />}
    </>
  );
};
