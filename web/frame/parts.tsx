/** An area with several parts, each at a path below its own */
import type { ComponentType } from 'preact';
import { path, toArea } from './address.ts';
import { Link } from './link.tsx';
import { type AnyCall, isPermitted } from './rights.ts';
import { titleInSentence } from './title-in-sentence.ts';

/** A view that declares its first call */
export type CallingView = ComponentType & { readonly requiredCall?: AnyCall };

export interface Part {
  /** Path below that of the area; empty for the first part */
  readonly name: string;
  readonly title: string;
  readonly View: CallingView;
  /** First call, if the view does not declare it; the part is displayed to users with permission for it */
  readonly requiredCall?: AnyCall;
}

/** Returns the view of an area with parts. */
export const partsOf =
  (title: string, parts: readonly Part[]): ComponentType =>
  () => {
    const [, area = '', at = ''] = path.value.split('/');
    const open = parts.filter(({ requiredCall, View }) => isPermitted(requiredCall ?? View.requiredCall));
    const part = open.find(({ name }) => name === at) ?? open[0];
    if (part === undefined) return <p class="said">Your role has no access to this area.</p>;
    return (
      <div class="logs">
        <h1 class="sr-only">{`${title}: ${titleInSentence(part.title)}`}</h1>
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
