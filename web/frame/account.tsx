/** Account menu: user, organization, and preferences */
import { toArea } from './address.ts';
import { Problem } from './freshness.tsx';
import { Link } from './link.tsx';
import { changing, type Preferences, preferences, updatePreferences } from './preferences.ts';
import { goTo, otherOrganizations, type Session, sessionError, signOut } from './session.ts';
import { shownText } from './shown-text.tsx';
import { theme, themes } from './theme.ts';

const Places = () =>
  otherOrganizations.value.length === 0 ? null : (
    <form
      id="switch"
      onSubmit={(event) => {
        event.preventDefault();
        void goTo(String(new FormData(event.currentTarget).get('organizationId')));
      }}
    >
      <label for="place">Other organizations</label>
      <select id="place" name="organizationId">
        {otherOrganizations.value.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
      <button type="submit">Switch</button>
    </form>
  );

const clocks = { '24h': '24 hours', '12h': '12 hours' } as const;
const dates = {
  iso: 'year-month-day',
  'day-month-year': 'day-month-year',
  'month-day-year': 'month-day-year',
} as const;

/** Selects one of several options by name. */
const Choice = <Key extends string>({
  label,
  of,
  value,
  onChoose,
}: {
  readonly label: string;
  readonly of: Readonly<Record<Key, string>>;
  readonly value: Key;
  readonly onChoose: (key: Key) => void;
}) => (
  <label>
    {label}{' '}
    <select value={value} onChange={({ currentTarget }) => onChoose(currentTarget.value as Key)}>
      {(Object.entries(of) as [Key, string][]).map(([key, title]) => (
        <option key={key} value={key}>
          {title}
        </option>
      ))}
    </select>
  </label>
);

const Times = ({ chosen }: { readonly chosen: Preferences }) => (
  <>
    <label>
      Time zone{' '}
      <input
        list="zones"
        defaultValue={chosen.timeZone}
        aria-describedby="zone-hint"
        autocomplete="off"
        spellcheck={false}
        onChange={({ currentTarget }) => void updatePreferences({ timeZone: currentTarget.value.trim() || 'browser' })}
      />
    </label>
    <p class="soft" id="zone-hint">
      browser, UTC, or a zone such as Europe/Zurich
    </p>
    <datalist id="zones">
      {['browser', 'UTC', ...Intl.supportedValuesOf('timeZone')].map((name) => (
        <option key={name} value={name} />
      ))}
    </datalist>
    <Choice
      label="Time format"
      of={clocks}
      value={chosen.timeFormat}
      onChoose={(timeFormat) => void updatePreferences({ timeFormat })}
    />
    <Choice
      label="Date format"
      of={dates}
      value={chosen.dateFormat}
      onChoose={(dateFormat) => void updatePreferences({ dateFormat })}
    />
    <Problem error={changing.error.value} />
  </>
);

export const Account = ({ who }: { readonly who: Session }) => (
  <details class="menu" id="account">
    <summary>{shownText(who.tenant.name)}</summary>
    <div class="popup">
      <dl>
        <dt>Signed in as</dt>
        <dd id="person">
          {shownText(who.user.name)} ({who.user.email})
        </dd>
        <dt>Organization</dt>
        <dd id="organization">{shownText(who.tenant.name)}</dd>
        <dt>Role</dt>
        <dd>{who.role}</dd>
      </dl>
      <Places />
      {preferences.value === undefined ? null : <Times chosen={preferences.value} />}
      <label>
        Colors{' '}
        <select
          value={theme.value}
          onChange={({ currentTarget }) => {
            void updatePreferences({ theme: themes.find((each) => each === currentTarget.value) ?? 'system' });
          }}
        >
          <option value="system">system</option>
          <option value="light">light</option>
          <option value="dark">dark</option>
        </select>
      </label>
      <p class="links">
        <Link to={toArea('/settings/you')}>Security</Link>{' '}
        <Link to={toArea('/settings/contacts')}>Notification rules</Link> <a href="/api/docs">API reference</a>
      </p>
      {sessionError.value === '' ? null : (
        <p class="problem" role="alert">
          {sessionError.value}
        </p>
      )}
      <button id="sign-out" type="button" onClick={() => void signOut()}>
        Sign out
      </button>
    </div>
  </details>
);
