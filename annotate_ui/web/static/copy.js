// Copies a link that is shown once; without https there is no clipboard, and it is selected instead.

for (const button of document.querySelectorAll("button.copy")) {
  const field = document.getElementById(button.dataset.copy);
  const message = document.getElementById("copied");
  button.hidden = false;
  button.addEventListener("click", async () => {
    field.select();
    try {
      await navigator.clipboard.writeText(field.value);
      message.textContent = button.dataset.copied;
    } catch {
      message.textContent = "";
    }
  });
}
