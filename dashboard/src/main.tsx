/** The dashboard's first line. */
import { render } from 'preact';
import { App } from './app.tsx';
import { applyTheme } from './settings/theme.ts';
import './styles/base.css';
import './styles/playground.css';

const place = document.getElementById('app');
if (place === null) throw new Error('the page has no place for the dashboard');
applyTheme();
render(<App />, place);
