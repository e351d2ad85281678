/** Suggestions with reason, effect and request, which can be applied or dismissed */
import { useState } from 'preact/hooks';
import { Action } from '../../client/action.ts';
import { RemovalForm } from '../../editors/removal.tsx';
import { readParam, setParams, toArea } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { ErrorMessage, Freshness } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { explainDenial, isPermitted } from '../../frame/rights.ts';
import { refresh } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { RawText } from '../../lists/raw.tsx';
import { ScrollRegion } from '../../lists/scroll-region.tsx';
import { applySuggestionCall, dismissSuggestionCall, type Suggestion, suggestionsCall } from './calls.ts';

type SuggestionKind = Suggestion['kind'];

const kindTitles: Readonly<Record<SuggestionKind, string>> = {
  slo: 'SLOs',
  alert: 'alerts',
  'noisy-rule': 'Noisy rules',
  detector: 'detectors',
  dashboard: 'dashboards',
  'unread-metric': 'Unused metrics',
  'unread-attribute': 'Unused attributes',
  'log-pattern': 'Large log patterns',
};
const isKind = (text: string): text is SuggestionKind => text in kindTitles;

/** Returns the URL of the view that displays the resource that a suggestion created. */
const buildResourceUrl = (kind: SuggestionKind, id: string): string | undefined => {
  if (kind === 'slo') return toArea('/slos', { open: id });
  if (kind === 'alert' || kind === 'noisy-rule') return toArea('/alerts/rules', { rule: id });
  if (kind === 'detector') return toArea('/anomalies/detectors', { open: id });
  return kind === 'dashboard' ? toArea(`/dashboards/${id}`) : undefined;
};

/** Formats a request as HTTP text. */
const formatRequest = ({ method, path, headers = {}, body }: NonNullable<Suggestion['request']>): string =>
  [
    `${method} ${path}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...['', JSON.stringify(body, null, 2)],
  ].join('\n');

interface ActionOutcome {
  readonly title: string;
  readonly to: string | undefined;
}

const SuggestionActions = ({
  suggestion,
  onDone,
}: {
  readonly suggestion: Suggestion;
  readonly onDone: (completedAction: ActionOutcome) => void;
}) => {
  const [applyAction] = useState(() => new Action(applySuggestionCall));
  const [dismissAction] = useState(() => new Action(dismissSuggestionCall));
  const { id, kind, title, request } = suggestion;
  const params = { id };
  const apply = async (): Promise<void> => {
    const applyResult = await applyAction.run({ params });
    if (applyResult === undefined) return;
    const createdId = (applyResult.answer as { readonly id?: string } | null)?.id;
    onDone({ title: `Done: ${title}.`, to: createdId === undefined ? undefined : buildResourceUrl(kind, createdId) });
    refresh();
  };
  return (
    <>
      <RemovalForm
        action={dismissAction}
        kind="secondary"
        labels={['Dismiss', 'Dismiss until its volume halves or doubles']}
        remove={() => dismissAction.run({ params })}
        onRemoved={() => onDone({ title: `Dismissed: ${title}.`, to: undefined })}
      >
        {request === null ? null : (
          <button type="button" class="plain" disabled={applyAction.isRunning.value} onClick={() => void apply()}>
            Apply
          </button>
        )}
      </RemovalForm>
      <ErrorMessage error={applyAction.error.value} />
    </>
  );
};

const SuggestionCard = ({
  suggestion,
  onDone,
}: {
  readonly suggestion: Suggestion;
  readonly onDone: (completedAction: ActionOutcome) => void;
}) => {
  const { title, evidence, effect, request } = suggestion;
  return (
    <section class="suggestion" aria-label={title}>
      <h2>{renderText(title)}</h2>
      <p>
        <b>Reason:</b> {renderText(evidence)}.
      </p>
      <p>
        <b>Effect:</b> {renderText(effect)}.
      </p>
      {request === null ? (
        <p class="soft">Make this change in the application or collector that sends the telemetry.</p>
      ) : (
        <details>
          <summary>Request</summary>
          <RawText label={`Request of: ${title}`} text={formatRequest(request)} />
        </details>
      )}
      {isPermitted(applySuggestionCall) ? <SuggestionActions suggestion={suggestion} onDone={onDone} /> : null}
    </section>
  );
};

const KindFilter = () => (
  <label>
    Kind{' '}
    <select value={readParam('kind')} onChange={({ currentTarget }) => setParams({ kind: currentTarget.value })}>
      <option value="">all</option>
      {Object.entries(kindTitles).map(([kind, title]) => (
        <option key={kind} value={kind}>
          {title}
        </option>
      ))}
    </select>
  </label>
);

export const Suggestions = () => {
  const kind = readParam('kind');
  const queryState = useQuery(suggestionsCall, { query: isKind(kind) ? { kind } : {} });
  const [completedAction, setCompletedAction] = useState<ActionOutcome>();
  const { response, error } = queryState;
  return (
    <>
      <div class="toolbar">
        <KindFilter />
      </div>
      <p role="status">
        {completedAction === undefined ? '' : renderText(completedAction.title)}{' '}
        {completedAction?.to === undefined ? null : <Link url={completedAction.to}>View details</Link>}
      </p>
      <ErrorMessage error={error} />
      {isPermitted(applySuggestionCall) ? null : (
        <p class="soft">{explainDenial(applySuggestionCall, 'Applying or dismissing suggestions')}</p>
      )}
      <ScrollRegion class="scrolled" label="Suggestions">
        {response?.items.length === 0 ? <p class="soft">No suggestions.</p> : null}
        {response?.items.map((suggestion) => (
          <SuggestionCard key={suggestion.id} suggestion={suggestion} onDone={setCompletedAction} />
        ))}
        {response === undefined || response.missing.length === 0 ? null : (
          <p class="problem">Suggestions unavailable for: {renderText(response.missing.join(', '))}.</p>
        )}
      </ScrollRegion>
      <Freshness queryState={queryState} />
    </>
  );
};
