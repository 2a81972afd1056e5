// Everything works without this; it only saves clicks. No library, nothing from elsewhere.
'use strict';
(() => {
  const all = (selector, root = document) => Array.from(root.querySelectorAll(selector));
  const later = (work, wait) => { let timer; return (...args) => { clearTimeout(timer); timer = setTimeout(() => work(...args), wait); }; };

  // Is the server still there? Asking does not keep it awake.
  const gone = document.getElementById('gone');
  let missed = 0;
  const ask = async () => {
    try { missed = (await fetch(document.body.dataset.alive)).ok ? 0 : missed + 1; } catch { missed += 1; }
    gone.hidden = missed < 2;
  };
  setInterval(ask, 5000);

  // A number and its slider are one.
  all('input[data-for]').forEach(range => {
    const number = document.getElementById(range.dataset.for);
    range.addEventListener('input', () => { number.value = range.value; number.dispatchEvent(new Event('input', { bubbles: true })); });
    number.addEventListener('input', () => { range.value = number.value; });
  });

  // Fields that mean nothing to a method are out of sight; promises follow the form.
  const settings = document.getElementById('settings');
  if (settings) {
    const fit = () => {
      const chosen = settings.querySelector('input[name=method]:checked');
      const fields = (chosen ? chosen.dataset.fields : '').split(' ');
      all('[data-field]', settings).forEach(e => { e.hidden = !fields.includes(e.dataset.field); });
      const size = document.getElementById('size'), k = Number(document.getElementById('k').value);
      if (fields.includes('size') && Number(size.value) < 2 * k) { size.value = 2 * k; size.dispatchEvent(new Event('input')); }
    };
    const promise = document.getElementById('promise');
    let asked = 0;
    const promises = later(async () => {
      const mine = ++asked, form = new FormData(settings);
      form.delete('token');
      const query = new URLSearchParams(form);
      const answer = await fetch(settings.dataset.promise + '?' + query).catch(() => null);
      if (answer && answer.ok && mine === asked) promise.innerHTML = await answer.text();
    }, 250);
    settings.addEventListener('input', () => { fit(); promises(); });
    fit();
  }

  // Lists are searched while somebody types.
  all('form[data-live]').forEach(form => {
    let asked = 0;
    const search = later(async () => {
      const mine = ++asked, address = form.action + '?' + new URLSearchParams(new FormData(form));
      const answer = await fetch(address).catch(() => null);
      if (!answer || !answer.ok) return;
      const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
      if (mine !== asked) return;
      const found = page.getElementById(form.dataset.live);
      if (found) document.getElementById(form.dataset.live).replaceWith(document.adoptNode(found));
      history.replaceState(null, '', address);
    }, 200);
    form.addEventListener('input', search);
  });

  // A file that is dropped anywhere goes into the form.
  const drop = document.querySelector('form.drop');
  if (drop) {
    const over = on => drop.classList.toggle('over', on);
    addEventListener('dragover', e => { e.preventDefault(); over(true); });
    addEventListener('dragleave', e => { if (!e.relatedTarget) over(false); });
    addEventListener('drop', e => {
      e.preventDefault(); over(false);
      if (!e.dataTransfer.files.length) return;
      drop.querySelector('input[type=file]').files = e.dataTransfer.files;
      drop.requestSubmit();
    });
  }

  // A job tells how far it is.
  const job = document.querySelector('.job');
  if (job) {
    const bar = document.getElementById('bar'), stage = document.getElementById('stage');
    const seconds = document.getElementById('seconds'), spoken = document.getElementById('spoken');
    const events = new EventSource(job.dataset.events);
    events.onmessage = e => {
      const far = JSON.parse(e.data);
      if (far.share === null) bar.removeAttribute('value'); else bar.value = Math.round(far.share * 1000);
      seconds.textContent = far.seconds + ' s';
      if (stage.textContent !== far.text) { stage.textContent = far.text; spoken.textContent = far.text; }
    };
    events.addEventListener('end', () => { events.close(); location.reload(); });
  }

  // Commands can be copied.
  all('.copy').forEach(button => button.addEventListener('click', async () => {
    const text = button.parentElement.querySelector('code').textContent;
    await navigator.clipboard.writeText(text).catch(() => {});
    button.textContent = 'Copied';
    setTimeout(() => { button.textContent = 'Copy'; }, 1500);
  }));
})();
