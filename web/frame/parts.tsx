/** Area with tabs, each at a path below that of the area */
import type { ComponentType } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { path, toArea } from './address.ts';
import { Link } from './link.tsx';
import { type AnyCall, isPermitted } from './rights.ts';
import { toMidSentenceTitle } from './title-in-sentence.ts';

/** View that declares its first API call */
export type ViewWithCall = ComponentType & { readonly requiredCall?: AnyCall };

export interface Tab {
  /** Last segment of the path; empty for the first tab */
  readonly name: string;
  readonly title: string;
  /** Heading of the tab in a list of tabs at the left. Either all tabs of an area have one, or none has. */
  readonly group?: string;
  readonly View: ViewWithCall;
  /** First API call, if the view does not declare it. Users without permission for it do not see the tab. */
  readonly requiredCall?: AnyCall;
}

/** Creates the view of an area with tabs. */
export const createTabbedView =
  (title: string, tabs: readonly Tab[]): ComponentType =>
  () => {
    const [, area = '', tabName = ''] = path.value.split('/');
    const permittedTabs = tabs.filter(({ requiredCall, View }) => isPermitted(requiredCall ?? View.requiredCall));
    const currentTab = permittedTabs.find(({ name }) => name === tabName) ?? permittedTabs[0];
    const navigation = useRef<HTMLElement>(null);
    // On a phone, the tabs are wider than the screen.
    useLayoutEffect(() => {
      navigation.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' });
    }, [currentTab?.name]);
    if (currentTab === undefined) return <p class="said">Your role has no access to this area.</p>;
    const toLink = ({ name, title }: Tab) => (
      <li key={name}>
        <Link url={toArea(name === '' ? `/${area}` : `/${area}/${name}`)} isCurrent={name === currentTab.name}>
          {title}
        </Link>
      </li>
    );
    const groups = [...new Set(permittedTabs.map(({ group }) => group))];
    const heading = <h1 class="sr-only">{`${title}: ${toMidSentenceTitle(currentTab.title)}`}</h1>;
    if (currentTab.group !== undefined)
      return (
        <div class="with-side-tabs">
          {heading}
          <nav class="side-tabs" aria-label={title} ref={navigation}>
            {groups.map((group) => (
              <section key={group}>
                <h2>{group}</h2>
                <ul>{permittedTabs.filter((tab) => tab.group === group).map(toLink)}</ul>
              </section>
            ))}
          </nav>
          <div class="logs">
            <currentTab.View key={currentTab.name} />
          </div>
        </div>
      );
    return (
      <div class="logs">
        {heading}
        <nav class="tabs" aria-label={title} ref={navigation}>
          <ul>{permittedTabs.map(toLink)}</ul>
        </nav>
        <currentTab.View key={currentTab.name} />
      </div>
    );
  };
