// The page of an explanation: draws the maps of its own data block and nothing else.
(async () => {
  const began = performance.now(), at = (id) => document.getElementById(`regard-${id}`);
  await drawAttention(JSON.parse(at("data").textContent), {
    grid: at("grid"), map: at("map"), tip: at("tip"), name: at("name"), rows: at("rows"),
    columns: at("columns"), note: at("kept"), caption: at("caption"), select: at("stack"),
  });
  document.documentElement.dataset.openedIn = Math.round(performance.now() - began);
  document.documentElement.dataset.shownAt = Math.round(performance.now());
})();
