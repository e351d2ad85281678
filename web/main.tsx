/** Entry point of the page */
import { render } from 'preact';
import { areaGroups } from './areas.ts';
import { path } from './frame/address.ts';
import { Frame } from './frame/frame.tsx';
import { lazyLoad } from './frame/lazy-load.tsx';
import { openSession } from './frame/session.ts';

const SharedSnapshot = lazyLoad(async () => (await import('./areas/dashboards/shared.tsx')).SharedSnapshot);

const container = document.getElementById('page');
// Removes the loading message of the document.
container?.replaceChildren();
if (container !== null && path.value === '/snapshot') render(<SharedSnapshot />, container);
else if (container !== null) {
  openSession();
  render(<Frame groups={areaGroups} />, container);
}
