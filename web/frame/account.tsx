/** Account menu: user, organization and preferences */
import { LogOut } from 'lucide';
import { Button } from '../components/button.tsx';
import { Popover } from '../components/popover.tsx';
import { toArea } from './address.ts';
import { renderText } from './display-text.tsx';
import { ErrorMessage } from './freshness.tsx';
import { Link } from './link.tsx';
import { type Preferences, preferences, updateAction, updatePreferences } from './preferences.ts';
import { otherOrganizations, type Session, sessionError, signOut, switchOrganization } from './session.ts';
import { theme, themes } from './theme.ts';

const OrganizationSwitch = () =>
  otherOrganizations.value.length === 0 ? null : (
    <form
      id="switch"
      class="switch"
      onSubmit={(event) => {
        event.preventDefault();
        void switchOrganization(String(new FormData(event.currentTarget).get('organizationId')));
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

const timeFormats = { '24h': '24 hours', '12h': '12 hours' } as const;
const dateFormats = {
  iso: 'year-month-day',
  'day-month-year': 'day-month-year',
  'month-day-year': 'month-day-year',
} as const;

/** Select for one of several options */
const SelectOption = <Key extends string>({
  label,
  options,
  value,
  onChange,
}: {
  readonly label: string;
  readonly options: Readonly<Record<Key, string>>;
  readonly value: Key;
  readonly onChange: (key: Key) => void;
}) => (
  <label>
    {label}{' '}
    <select value={value} onChange={({ currentTarget }) => onChange(currentTarget.value as Key)}>
      {(Object.entries(options) as [Key, string][]).map(([key, title]) => (
        <option key={key} value={key}>
          {title}
        </option>
      ))}
    </select>
  </label>
);

const TimePreferences = ({ savedPreferences }: { readonly savedPreferences: Preferences }) => (
  <>
    <label>
      Time zone{' '}
      <input
        list="zones"
        defaultValue={savedPreferences.timeZone}
        aria-describedby="zone-hint"
        autocomplete="off"
        spellcheck={false}
        onChange={({ currentTarget }) => void updatePreferences({ timeZone: currentTarget.value.trim() || 'browser' })}
      />
    </label>
    <p class="soft" id="zone-hint">
      browser, UTC or a time zone such as Europe/Zurich
    </p>
    <datalist id="zones">
      {['browser', 'UTC', ...Intl.supportedValuesOf('timeZone')].map((name) => (
        <option key={name} value={name} />
      ))}
    </datalist>
    <SelectOption
      label="Time format"
      options={timeFormats}
      value={savedPreferences.timeFormat}
      onChange={(timeFormat) => void updatePreferences({ timeFormat })}
    />
    <SelectOption
      label="Date format"
      options={dateFormats}
      value={savedPreferences.dateFormat}
      onChange={(dateFormat) => void updatePreferences({ dateFormat })}
    />
    <ErrorMessage error={updateAction.error.value} />
  </>
);

const getInitials = (name: string): string =>
  name
    .split(/\s+/)
    .slice(0, 2)
    .map((word) => [...word][0] ?? '')
    .join('')
    .toUpperCase();

const AccountPanel = ({ session }: { readonly session: Session }) => (
  <div class="account-panel">
    <OrganizationSwitch />
    <p class="soft">Role: {session.role}</p>
    {preferences.value === undefined ? null : <TimePreferences savedPreferences={preferences.value} />}
    <label>
      Theme{' '}
      <select
        value={theme.value}
        onChange={({ currentTarget }) => {
          void updatePreferences({ theme: themes.find((option) => option === currentTarget.value) ?? 'system' });
        }}
      >
        <option value="system">System</option>
        <option value="light">Light</option>
        <option value="dark">Dark</option>
      </select>
    </label>
    <p class="links">
      <Link url={toArea('/settings/you')}>Security</Link>
      <Link url={toArea('/settings/contacts')}>Notification rules</Link>
      <a href="/docs">Documentation</a>
      <a href="/api/docs">API reference</a>
    </p>
    {sessionError.value === '' ? null : (
      <p class="problem" role="alert">
        {sessionError.value}
      </p>
    )}
    <Button id="sign-out" icon={LogOut} onClick={() => void signOut()}>
      Sign out
    </Button>
  </div>
);

export const AccountMenu = ({ session }: { readonly session: Session }) => (
  <Popover
    id="account"
    kind="quiet"
    title={
      <>
        <span class="avatar" aria-hidden="true">
          {renderText(getInitials(session.user.name))}
        </span>
        <span id="person">
          <span>{renderText(session.user.name)}</span> <small>{session.user.email}</small>
        </span>
      </>
    }
  >
    {() => <AccountPanel session={session} />}
  </Popover>
);
