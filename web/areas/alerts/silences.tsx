/** Active and future silences, and a form for a new one with the alerts that it would mute */
import { useEffect, useState } from 'preact/hooks';
import { Action } from '../../client/action.ts';
import { PagedList } from '../../client/pages.ts';
import { ActionForm } from '../../frame/action-form.tsx';
import { readParam, toArea } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatTime } from '../../frame/format-time.ts';
import { ErrorMessage, Freshness } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { isPermitted } from '../../frame/rights.ts';
import { refresh, refreshCount } from '../../frame/time-range.ts';
import { EmptyView } from '../../lists/empty-view.tsx';
import { ScrollRegion } from '../../lists/scroll-region.tsx';
import { TableHeader } from '../../lists/table-header.tsx';
import { formatMatchers, parseMatchers } from './alert-format.ts';
import { createSilenceCall, expireSilenceCall, replaceSilenceCall, type Silence, silencesCall } from './calls.ts';
import { SilencePreview } from './silence-preview.tsx';
import { SilenceFields } from './silence-span.tsx';

const silencePages = new PagedList(silencesCall, ({ items }) => items);

/** Form that sets a new end of a silence, counted from now. */
const SilenceEndForm = ({ silence }: { readonly silence: Silence }) => {
  const [action] = useState(() => new Action(replaceSilenceCall));
  const { id, version, matchers, startsAt, comment } = silence;
  const saveEnd = async (form: HTMLFormElement): Promise<void> => {
    const formData = new FormData(form);
    const endsAt = new Date(Date.now() + Number(formData.get('hours')) * 3_600_000).toISOString();
    const body = { matchers, startsAt, endsAt, comment: String(formData.get('comment')) || (comment ?? '') };
    if ((await action.run({ params: { id }, body, ifMatch: version })) !== undefined) refresh();
  };
  return (
    <details>
      <summary>Change end</summary>
      <ActionForm action={action} label="Save" onSubmit={saveEnd}>
        <SilenceFields />
      </ActionForm>
    </details>
  );
};

const scrollIntoView = (row: HTMLElement | null): void => row?.scrollIntoView({ block: 'nearest' });

const SilenceRow = ({ silence }: { readonly silence: Silence }) => {
  const [action] = useState(() => new Action(expireSilenceCall));
  const { id, state, startsAt, endsAt, comment } = silence;
  const isSelected = readParam('silence') === id;
  const expire = async (): Promise<void> => {
    if ((await action.run({ params: { id } })) !== undefined) refresh();
  };
  return (
    <tr
      ref={isSelected ? scrollIntoView : null}
      class={isSelected ? 'open' : undefined}
      aria-current={isSelected ? 'true' : undefined}
    >
      <td>
        <Link url={toArea('/alerts/silences', { silence: id })}>
          <bdi>{renderText(formatMatchers(silence))}</bdi>
        </Link>
      </td>
      <td>{state}</td>
      <td>{formatTime(Date.parse(startsAt))}</td>
      <td>{formatTime(Date.parse(endsAt))}</td>
      <td>{renderText(comment ?? '')}</td>
      {isPermitted(expireSilenceCall) ? (
        <td>
          <button type="button" class="plain" disabled={action.isRunning.value} onClick={() => void expire()}>
            End now
          </button>
          <ErrorMessage error={action.error.value} />
          <SilenceEndForm silence={silence} />
        </td>
      ) : null}
    </tr>
  );
};

const columns = ['Matchers', 'State', 'From', 'Until', 'Comment'];

const SilenceTable = () => {
  const { response, isLoading } = silencePages.first.state.value;
  if (response === undefined) return <p class="said">{isLoading ? 'Loading…' : ''}</p>;
  const silences = silencePages.items.value.filter(
    ({ id, state }) => state !== 'expired' || id === readParam('silence'),
  );
  if (silences.length === 0) return <EmptyView title="No active or scheduled silences." />;
  return (
    <table class="figures texts">
      <TableHeader columns={[...columns, ...(isPermitted(expireSilenceCall) ? ['Actions'] : [])]} />
      <tbody>
        {silences.map((silence) => (
          <SilenceRow key={silence.id} silence={silence} />
        ))}
      </tbody>
    </table>
  );
};

const NewSilenceForm = () => {
  const [action] = useState(() => new Action(createSilenceCall));
  const [matchersText, setMatchersText] = useState('');
  const matchers = parseMatchers(matchersText);
  const createSilence = async (form: HTMLFormElement): Promise<void> => {
    const formData = new FormData(form);
    const endsAt = new Date(Date.now() + Number(formData.get('hours')) * 3_600_000).toISOString();
    const silence = await action.run({ body: { matchers, endsAt, comment: String(formData.get('comment')) } });
    if (silence === undefined) return;
    form.reset();
    setMatchersText('');
    refresh();
  };
  return (
    <>
      <ActionForm action={action} label="Create silence" onSubmit={createSilence}>
        <label>
          Matchers{' '}
          <input
            name="matchers"
            required={true}
            placeholder="team=shop, service=~ca.*"
            maxLength={4096}
            spellcheck={false}
            autocomplete="off"
            onChange={({ currentTarget }) => setMatchersText(currentTarget.value)}
          />
        </label>
        <SilenceFields />
      </ActionForm>
      {matchers.length === 0 ? null : <SilencePreview matchers={matchers} />}
    </>
  );
};

export const Silences = () => {
  useEffect(() => {
    silencePages.load({ query: { limit: 100, sort: '-endsAt' } });
    return () => silencePages.cancel();
  }, [refreshCount.value]);
  return (
    <>
      {isPermitted(createSilenceCall) ? <NewSilenceForm /> : null}
      <ErrorMessage error={silencePages.first.state.value.error} />
      <ScrollRegion class="scrolled" label="Silences">
        <SilenceTable />
      </ScrollRegion>
      <Freshness queryState={silencePages.first.state.value} />
    </>
  );
};
