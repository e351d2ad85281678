/** Who is signed in, where, and how they want the page. */
import { elsewhere, goTo, type Session, sessionError, signOut } from './session.ts';
import { shownText } from './shown-text.tsx';
import { setZone, zone } from './shown-time.ts';
import { theme, themes } from './theme.ts';

const Places = () =>
  elsewhere.value.length === 0 ? null : (
    <form
      id="switch"
      onSubmit={(event) => {
        event.preventDefault();
        void goTo(String(new FormData(event.currentTarget).get('organizationId')));
      }}
    >
      <label for="place">Your other organizations</label>
      <select id="place" name="organizationId">
        {elsewhere.value.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
      <button type="submit">Go there</button>
    </form>
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
      <label>
        Times in{' '}
        <select
          value={zone.value}
          onChange={({ currentTarget }) => setZone(currentTarget.value === 'utc' ? 'utc' : 'browser')}
        >
          <option value="browser">the zone of this browser</option>
          <option value="utc">UTC</option>
        </select>
      </label>
      <label>
        Colors{' '}
        <select
          value={theme.value}
          onChange={({ currentTarget }) => {
            theme.value = themes.find((each) => each === currentTarget.value) ?? 'system';
          }}
        >
          <option value="system">of the system</option>
          <option value="light">light</option>
          <option value="dark">dark</option>
        </select>
      </label>
      <p>
        <a href="/api/docs">API reference</a>
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
