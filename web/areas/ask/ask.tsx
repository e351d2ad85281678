/**
 * Natural-language questions: the interpreted query with its result, alternative interpretations, or why the question
 * was not understood. Also contains suggestions, runbook search and documents.
 */
import { useEffect } from 'preact/hooks';
import type { answerQuestion } from '../../../api/groups/ai/query.ts';
import { ResultView } from '../../charts/result.tsx';
import type { ResponseBody } from '../../client/call.ts';
import { ApiQuery } from '../../client/query.ts';
import { readParam, setParams, toArea } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { displayTimeZone, formatIsoTime, getTimeZoneName } from '../../frame/format-time.ts';
import { ErrorMessage, Freshness } from '../../frame/freshness.tsx';
import { lazyLoad } from '../../frame/lazy-load.tsx';
import { Link } from '../../frame/link.tsx';
import { createTabbedView } from '../../frame/parts.tsx';
import { listQueryLinks } from '../../frame/query-links.ts';
import { refreshCount, timeRange } from '../../frame/time-range.ts';
import { RawText } from '../../lists/raw.tsx';
import { TableHeader } from '../../lists/table-header.tsx';
import { QuestionForm } from './box.tsx';
import { answerQuestionCall, documentsCall, runbookAnswerCall, suggestionsCall } from './calls.ts';
import { InvestigationAnswer, ServicePicker, useServiceNames } from './investigation-answer.tsx';

const questionQuery = new ApiQuery(answerQuestionCall);

type Answer = ResponseBody<typeof answerQuestion>;
type InterpretedQuery = Answer['alternatives'][number];

/** Table that shows which part of the query each phrase was interpreted as. */
const Interpretation = ({ phraseMappings }: { readonly phraseMappings: InterpretedQuery['words'] }) => (
  <details open={true}>
    <summary>How we interpreted it</summary>
    <table class="figures texts">
      <TableHeader columns={['Phrase', 'Query part']} />
      <tbody>
        {phraseMappings.map(({ text, mappedTo }, index) => (
          // A phrase may occur twice.
          <tr key={`${index} ${text}`}>
            <td>
              <bdi>{renderText(text)}</bdi>
            </td>
            <td>{mappedTo === null ? <span class="soft">ignored</span> : <bdi>{renderText(mappedTo)}</bdi>}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </details>
);

const MeaningDetails = ({ meaning }: { readonly meaning: InterpretedQuery }) => (
  <>
    <p id="sentence">{renderText(meaning.sentence)}</p>
    {meaning.deployment === null ? null : (
      <p class="soft">
        Deployment of {renderText(meaning.deployment.service)} {renderText(meaning.deployment.version)}:{' '}
        {formatIsoTime(meaning.deployment.time)}
      </p>
    )}
    <ul class="links">
      {listQueryLinks(meaning).map(([title, to]) => (
        <li key={title}>
          <Link url={to}>{title}</Link>
        </li>
      ))}
    </ul>
    <details>
      <summary>Query</summary>
      <RawText label="Query" text={JSON.stringify(meaning.query, null, 2)} />
    </details>
  </>
);

/** Areas that answer what a query cannot, by the operation that the API names */
const answeringAreas: Readonly<Record<string, readonly [title: string, path: string]>> = {
  'GET /api/alerts': ['View alerts', '/alerts'],
  'GET /api/incidents': ['View incidents', '/incidents'],
  'GET /api/slos': ['View SLOs', '/slos'],
  'GET /api/dashboards': ['View dashboards', '/dashboards'],
  'GET /api/events': ['View events', '/events'],
  'GET /api/audit': ['View audit log', '/settings/audit'],
  'POST /api/ai/forecast': ['Forecast a metric', '/explore-metrics'],
  'POST /api/ai/detect': ['View anomalies', '/anomalies'],
};

const UninterpretedQuestion = ({
  refusal: { code, reason, nearest, operation, words },
}: {
  readonly refusal: NonNullable<Answer['refusal']>;
}) => {
  if (code === 'cause') return <ServicePicker />;
  const [title, path] = answeringAreas[operation ?? ''] ?? [];
  return (
    <>
      <p class="problem" role="status">
        {renderText(reason)}
      </p>
      {nearest.length === 0 ? null : <p>Available: {renderText(nearest.join(', '))}.</p>}
      {title === undefined || path === undefined ? null : (
        <p>
          <Link url={toArea(path)}>{title}</Link>
        </p>
      )}
      {words.length === 0 ? null : <Interpretation phraseMappings={words} />}
    </>
  );
};

const ask = (question: string): void => setParams({ q: question });

const QuestionButtons = ({ title, questions }: { readonly title: string; readonly questions: readonly string[] }) =>
  questions.length === 0 ? null : (
    <section aria-label={title}>
      <h2>{title}</h2>
      <ul class="links">
        {questions.map((question) => (
          <li key={question}>
            <button type="button" class="plain" onClick={() => ask(question)}>
              {renderText(question)}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );

const listQuestions = (service: string): readonly string[] => [
  `Why is ${service} slow?`,
  `p95 duration of ${service} over time`,
  `errors of ${service} in the last hour`,
  `What changed in ${service}?`,
];

/** Questions about services of the organization, before the first question. */
const ExampleQuestions = () => {
  const [first, second] = useServiceNames(2);
  const questions = [
    ...(first === undefined ? [] : listQuestions(first)),
    ...(second === undefined ? [] : listQuestions(second).slice(0, 1)),
    'failed requests by service in the last hour',
    'logs by severity',
  ];
  return <QuestionButtons title="Examples" questions={questions} />;
};

/** Questions that continue the answered one, about a service that it names. */
const FollowUpQuestions = ({ question }: { readonly question: string }) => {
  const service = useServiceNames(100).find((name) => question.toLowerCase().includes(name.toLowerCase()));
  if (service === undefined) return null;
  return (
    <QuestionButtons
      title="Follow-up questions"
      questions={listQuestions(service).filter((other) => other !== question)}
    />
  );
};

const QueryAnswerView = ({
  queryAnswer: { answer: response, alternatives, investigation, refusal },
}: {
  readonly queryAnswer: Answer;
}) => {
  if (refusal !== null) return <UninterpretedQuestion refusal={refusal} />;
  if (investigation !== null)
    return (
      <>
        <InvestigationAnswer key={investigation.service} investigation={investigation} />
        <Interpretation phraseMappings={investigation.words} />
      </>
    );
  if (response === null)
    return (
      <>
        <p role="status">This question has {alternatives.length} possible meanings:</p>
        {alternatives.map((meaning, index) => (
          <section key={`${index} ${meaning.sentence}`} class="attention" aria-label={`Meaning ${index + 1}`}>
            <MeaningDetails meaning={meaning} />
            <Interpretation phraseMappings={meaning.words} />
          </section>
        ))}
      </>
    );
  return (
    <>
      {response.emptyReason === null ? null : <p role="status">{renderText(response.emptyReason)}</p>}
      <ResultView result={response.result} title={response.sentence} />
      {response.compared === null || response.comparedResult === null ? null : (
        <section aria-label="Compared range">
          <h2>
            Compared with {formatIsoTime(response.compared.from)} to {formatIsoTime(response.compared.to)}
          </h2>
          <ResultView result={response.comparedResult} title={response.sentence} />
        </section>
      )}
      <MeaningDetails meaning={response} />
      <Interpretation phraseMappings={response.words} />
    </>
  );
};

/** Maximum number of earlier questions that a question may continue. */
const maxPreviousQuestions = 8;

/** Questions of this visit, the oldest first; the last one is the shown question. */
const visitedQuestions: string[] = [];

/** Returns the questions before this one. Returning to an earlier question forgets the later ones. */
const listPreviousQuestions = (question: string): string[] => {
  const index = visitedQuestions.indexOf(question);
  if (index >= 0) visitedQuestions.splice(index + 1);
  else visitedQuestions.push(question.slice(0, 1_024));
  return visitedQuestions.slice(0, -1).slice(-maxPreviousQuestions);
};

const QuestionView = () => {
  const question = readParam('q');
  const { from, to } = timeRange.value;
  useEffect(() => {
    if (question === '') questionQuery.clear();
    else {
      const previousQuestions = listPreviousQuestions(question);
      questionQuery.run({ body: { question, previousQuestions, timeZone: getTimeZoneName(), from, to } });
    }
    return () => questionQuery.cancel();
  }, [question, from, to, displayTimeZone.value, refreshCount.value]);
  const { response, error, isLoading } = questionQuery.state.value;
  const questionProblem = error?.of('question');
  return (
    <>
      <QuestionForm
        key={question}
        label="Ask"
        placeholder="failed requests by service in the last hour"
        question={question}
        problem={questionProblem}
      />
      {questionProblem === undefined ? <ErrorMessage error={error} /> : null}
      {response === undefined || question === '' ? null : (
        <div class={isLoading ? 'old' : ''}>
          <QueryAnswerView queryAnswer={response} />
          <FollowUpQuestions question={question} />
        </div>
      )}
      {question === '' ? (
        <ExampleQuestions />
      ) : (
        <Freshness queryState={{ ...questionQuery.state.value, response: response?.answer?.result ?? response }} />
      )}
    </>
  );
};

export const Questions = createTabbedView('Ask', [
  { name: '', title: 'Question', View: QuestionView },
  {
    name: 'suggestions',
    title: 'Suggestions',
    requiredCall: suggestionsCall,
    View: lazyLoad(async () => (await import('./suggestions.tsx')).Suggestions),
  },
  {
    name: 'runbooks',
    title: 'Runbooks',
    requiredCall: runbookAnswerCall,
    View: lazyLoad(async () => (await import('./runbooks.tsx')).Runbooks),
  },
  {
    name: 'documents',
    title: 'Documents',
    requiredCall: documentsCall,
    View: lazyLoad(async () => (await import('./documents.tsx')).Documents),
  },
]);
