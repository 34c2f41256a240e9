/** Entry point of the dashboard. */
import { render } from 'preact';
import { App } from './app.tsx';
import { applyTheme } from './settings/theme.ts';
import './styles/base.css';
import './styles/playground.css';

const place = document.getElementById('app');
if (place === null) throw new Error('index.html has no element #app');
applyTheme();
render(<App />, place);
