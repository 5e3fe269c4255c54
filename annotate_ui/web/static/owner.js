// The owner's pages work without this: it copies links, and shows figures once they are computed.

for (const button of document.querySelectorAll("button.copy")) {
  const field = document.getElementById(button.dataset.copy);
  button.hidden = false;
  button.addEventListener("click", async () => {
    field.select();
    try {
      await navigator.clipboard.writeText(field.value);
    } catch {
      // Without https there is no clipboard; the link is selected, to be copied by hand.
      return;
    }
    document.getElementById("copied").textContent = button.dataset.copied;
  });
}

const EVERY = 2000;

async function wait() {
  try {
    const answer = await fetch("/owner/running", { redirect: "error" });
    if ((await answer.json()).running) {
      setTimeout(wait, EVERY);
    } else {
      location.reload();
    }
  } catch {
    // Signed out, or no connection: the page shows what to do.
  }
}

if (document.querySelector("[data-running]")) setTimeout(wait, EVERY);
