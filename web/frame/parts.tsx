/** An area of several parts, each at a path below its own. */
import type { ComponentType } from 'preact';
import { path, toArea } from './address.ts';
import { Link } from './link.tsx';
import { type AnyCall, may } from './rights.ts';

/** A view that says what it asks first. */
export type CallingView = ComponentType & { readonly requiredCall?: AnyCall };

export interface Part {
  /** Below the area's path; empty for the first. */
  readonly name: string;
  readonly title: string;
  readonly View: CallingView;
  /** What it asks first, where its view does not say that: it is shown to those who may call it. */
  readonly requiredCall?: AnyCall;
}

/** The view of an area of parts. */
export const partsOf =
  (title: string, parts: readonly Part[]): ComponentType =>
  () => {
    const [, area = '', at = ''] = path.value.split('/');
    const open = parts.filter(({ requiredCall, View }) => may(requiredCall ?? View.requiredCall));
    const part = open.find(({ name }) => name === at) ?? open[0];
    if (part === undefined) return <p class="said">Nothing here is open to your role.</p>;
    return (
      <div class="logs">
        <h1 class="sr-only">{`${title}: ${part.title.toLowerCase()}`}</h1>
        <nav class="tabs" aria-label={title}>
          <ul>
            {open.map(({ name, title }) => (
              <li key={name}>
                <Link to={toArea(name === '' ? `/${area}` : `/${area}/${name}`)} isCurrent={name === part.name}>
                  {title}
                </Link>
              </li>
            ))}
          </ul>
        </nav>
        <part.View key={part.name} />
      </div>
    );
  };
