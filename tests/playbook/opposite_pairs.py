"""Opposites in kinds: a second sentence that takes back the first, a condition that belongs to a noun, articles, facts and rules.

`OPPOSITES_IN_KINDS` was written to the kinds in which merging was found to err. `OPPOSITES_UNSEEN` was written before
its rules were mended: of 83 pairs eight were merged on the first run; four of those are mended, one said the same in
fact, and three are idioms of one word ("pick the lock", "get the joke", "call the user" by telephone) that stand in no list here.
`OPPOSITES_UNSEEN_AFTERWARDS` was written when that was mended: 80 pairs, none merged on the first run.
`OPPOSITES_THIRD` went for clauses without a relative word ("the items users add if they cancel"): of 73 pairs 17 were
merged on the first run; 11 are mended, the six others say the same by the rules of this set and were left out.
`SAME_IN_KINDS` is what the rules against them must leave together.
"""

from __future__ import annotations

from tests.playbook.likeness_pairs import Pair, labelled

OPPOSITES_IN_KINDS: tuple[Pair, ...] = labelled(
    "in kinds",
    False,
    """
    Skip tests. | Skip tests. Skipping is prohibited.
    Use cache. | Use cache. Caching is forbidden.
    Use cache. | Use cache. The rule is void.
    Use cache. | Use cache. In production it is dangerous.
    Skip reviews. | Skip reviews. Tests are an exception.
    Use the API. | Use the API. It gives wrong totals.
    Delete rows. | Delete rows. Admins are exempted.
    Delete rows. | Delete rows. Approval is needed.
    Retry on 500. | Retry on 500. Payment calls are dangerous to repeat.
    Refund tickets bought before the strike. | Before the strike, refund tickets bought.
    Refund tickets sold before the strike. | Before the strike, refund tickets sold.
    Refund orders paid before the strike. | Before the strike, refund orders paid.
    List letters sent after noon. | After noon, list letters sent.
    Keep notes written during the call. | During the call, keep notes written.
    Report parcels lost while we moved. | While we moved, report parcels lost.
    Archive copies made until Friday. | Until Friday, archive copies made.
    Refund tickets before the strike. | Before the strike, refund tickets.
    Ask the user if he paid. | If he paid, ask the user.
    Check if it is paid. | If it is paid, check.
    Log the time when the call fails. | When the call fails, log the time.
    Delete a few rows. | Delete few rows.
    Add a little salt. | Add little salt.
    Wait a second. | Wait second.
    Use a second key. | Use the second key.
    Use a second key. | Use second key.
    Pick the list with the most songs. | Pick the list with most songs.
    Use the only key. | Use only key.
    Check every other row. | Check each other row.
    Check the checkbox. | Verify the checkbox.
    Use 3 min values. | Use 3 minute values.
    The tool does not retry. | The tool must not retry.
    The tool does not retry. | The tool never retries.
    The tools do not retry. | The tools must not retry.
    The tools never retry. | The tools must not retry.
    Delete the folder. | Delete folders.
    Delete the folder. | Delete the folders.
    Open the app. | Open apps.
    Clone the repo. | Clone repos.
    Clone the repository. | Clone the repos.
    Name the column repo. | Name the column repositories.
    Name the column repo. | Name the column repository.
    Zahle 1,500 EUR. | Zahle 1500 EUR.
    Überweise 1,500 EUR an die Bank. | Überweise 1500 EUR an die Bank.
    Answer "no" if unsure. | Answer no if unsure.
    请购单要先审批。 | 购单要先审批。
    The display is checked. | The show is checked.
    Stop before the building. | Stop before you build.
    It is never late. | It is not late.
    Delete a row. | Delete the row.
    Delete a row. | Delete rows.
    Let the guest choose the room. | Let the guest choose a room.
    Compare each other's rows. | Compare every other's rows.
    Display cases are closed. | Show cases are closed.
    Begin tags are needed. | Start tags are needed.
    Fetch jobs must end. | Get jobs must end.
    Select queries are slow. | Choose queries are slow.
    Wait a minute. | Wait the minute.
    Add a second. | Add the second.
    Try a third time. | Try the third time.
    A most useful rule wins. | The most useful rule wins.
    Read the last rows. | Read last rows.
    Reply to the other user. | Reply to other user.
    Keep the many copies. | Keep many copies.
    Use the same key. | Use same keys.
    Return a half. | Return half.
    Cancel the flight if the user says so. | If the user says so, cancel the flight. Otherwise keep it.
    List the songs when the playlist was made. | When the playlist was made, list the songs.
    Ask Ann if Bob is in. | If Bob is in, ask Ann.
    Let Ann know when it rains. | When it rains, let Ann know.
    Confirm if the order ships. | If the order ships, confirm.
    Email users active during the outage. | During the outage, email users active.
    Email users after the outage. | After the outage, email users.
    Block users without a card before the sale. | Before the sale, block users without a card.
    Keep a list of users blocked while testing the site. | While testing the site, keep a list of users blocked.
    Explain what to do when it fails. | When it fails, explain what to do.
    Demand proof before paying the claim. | Before paying the claim, demand proof.
    Refund seats left after boarding the plane. | After boarding the plane, refund seats left.
    Remove files open while you edit. | While you edit, remove files open.
    Get the value set when you start. | When you start, get the value set.
    Read the notes of those here before you leave. | Before you leave, read the notes of those here.
    Check the tickbox. | Verify the tickbox.
    Check all items on the form. | Verify all items on the form.
    Check the option. | Verify the option.
    Show 5 min prices. | Show 5 minute prices.
    Keep 2 min copies. | Keep 2 minute copies.
    Take 3 s values. | Take 3 second values.
    The script does not delete files. | The script should not delete files.
    The script doesn't delete files. | The script never deletes files.
    Scripts don't delete files. | Scripts must never delete files.
    Agents avoid refunds. | Agents do not refund.
    It must never be empty. | It is not empty.
    The value should not be null. | The value is not null.
    The value must not be null. | The value should not be null.
    You should not pay. | You do not pay.
    Tell users you do not pay. | Tell users you should not pay.
    Say you must not pay. | Say never pay.
    Open the docs. | Open the doc.
    Set the params. | Set the param.
    Pass the args. | Pass the arg.
    Read the specs. | Read the spec.
    Delete the dirs. | Delete the dir.
    Call it repo. | Call it repository.
    Rename it to app. | Rename it to application.
    Call the function min. | Call the function minimum.
    Use the command info. | Use the command information.
    The variable is named env. | The variable is named environment.
    Add a field app. | Add a field application.
    Use "max". | Use "maximum".
    Return "true". | Return true.
    Return '0'. | Return 0.
    Say “please” first. | Say first.
    Nimm 1,250 Meter. | Nimm 1250 Meter.
    Prenez 1,250 EUR pour la table. | Prenez 1250 EUR pour la table.
    Neem 1,250 EUR van de bank. | Neem 1250 EUR van de bank.
    请批单要归档。 | 批单要归档。
    请战书要归档。 | 战书要归档。
    请调单要归档。 | 调单要归档。
    请购流程要审批。 | 购流程要审批。
    请休假单要归档。 | 休假单要归档。
    Never log tokens. | Never log tokens. This saves time.
    Do not skip tests. | Do not skip tests. This prevents errors.
    Use the API. | Use the API. This prevents correct totals.
    Use the API. | Use the API. This keeps totals wrong.
    Use the API. | Use the API. This ensures errors.
    Use the API. | Use the API. This helps nobody.
    Use the API. | Use the API. This saves nothing.
    Use the API. | Avoid surprises. Use the API.
    Use the API. | Ann disagrees. Use the API.
    Use the API. | Use the API. Caution is advised.
    Use the API. | Use the API. There is a better way.
    Use the API. | Use the API. Was it approved?
    Check that row. | Check the row.
    Verify that user in the list. | Verify the user in the list.
    Since then it fails. | Since it fails.
    The tool always retries. | The tool retries.
    The cache is always shared. | The cache is shared.
    Drive carefully in rain. | Drive in rain.
    Ask kindly for a refund. | Ask for a refund.
    Wait until then and pay. | Wait until and pay.
    请休假的人签字。 | 休假的人签字。
    When listing is empty, stop. | When list is empty, stop.
    If booking fails, stop. | If book fails, stop.
    Keep filtering on. | Keep filter on.
    Work without charging. | Work without charge.
    Stop importing. | Stop import.
    Stop if it fails, log it. | If it fails log it, stop.
    Ask before charging. | Ask before charge.
    """,
)

OPPOSITES_UNSEEN: tuple[Pair, ...] = labelled(
    "unseen",
    False,
    """
    Send the invoice to the buyer, not the agent. | Send the invoice to the agent, not the buyer.
    Accept cards issued by the bank. | Accept cards issued for the bank.
    Pay the deposit first and the rest later. | Pay the rest first and the deposit later.
    Close the ticket as solved. | Close the ticket as unsolved.
    Let the guest choose the room. | Let the guest choose a room.
    Keep the receipt for a year. | Keep the receipt for a month.
    Charge the card in full. | Charge the card in part.
    Use the price with tip. | Use the price without tip.
    Show all flights but the cheapest. | Show all flights and the cheapest.
    Offer a voucher instead of a refund. | Offer a refund instead of a voucher.
    Offer a refund. | Offer a refund. Gold members get none.
    Offer a refund. | Offer a refund. This is no longer true.
    Offer a refund. | Offer a refund. This was the old rule.
    Offer a refund. | Offer a refund. Managers decide.
    Offer a refund. | Offer a refund. This helps fraudsters.
    Offer a refund. | Offer a refund. This keeps customers waiting.
    Offer a refund. | Offer a refund. For example, to gold members.
    Offer a refund. | Offer a refund. It saves time.
    Offer a refund. | Offer a refund. Offer a refund.
    Press enter. | Press enter. Press enter.
    Log in. Wait. | Log in. Wait. Log in.
    Show the seats free before the flight. | Before the flight, show the seats free.
    Use the rates set before you booked. | Before you booked, use the rates set.
    Return goods damaged when they arrive. | When they arrive, return goods damaged.
    Keep offers good until Monday. | Until Monday, keep offers good.
    Mention the fee if asked. | If asked, mention the fee.
    Tell Ann if the call fails. | If the call fails, tell Ann.
    Plan calls after landing in Rome. | After landing in Rome, plan calls.
    Allow changes before paying the bill. | Before paying the bill, allow changes.
    List users who left when the shop closed. | When the shop closed, list users who left.
    Write down the hour when the job ends. | When the job ends, write down the hour.
    See whether it works while testing it. | While testing it, see whether it works.
    Ask for the code when the page loads. | When the page is loaded, ask for the code.
    Little can be done. | A little can be done.
    Take the lot. | Take a lot.
    Use a number of keys. | Use the number of keys.
    Use the two keys. | Use two keys.
    Delete the 3 rows. | Delete 3 rows.
    Use the most recent key. | Use most recent keys.
    Wait every other day. | Wait every day.
    Compare each other's rows. | Compare every other's rows.
    Verify the boxes in the form. | Check the boxes in the form.
    Display cases are closed. | Show cases are closed.
    Begin tags are needed. | Start tags are needed.
    The shop doesn't ship on Sunday. | The shop shouldn't ship on Sunday.
    The shop never ships on Sunday. | The shop doesn't ship on Sunday.
    Users do not pay. | Users should not pay.
    Users who do not pay are blocked. | Users who never pay are blocked.
    If users do not pay, stop. | If users never pay, stop.
    It does not matter. | It must not matter.
    Rename the folder to docs. | Rename the folder to documentation.
    Set the key env to on. | Set the key environment to on.
    Create the folders. | Create the folder.
    List the parameters. | List the parameter.
    Answer with max. | Answer with maximum.
    Type "5" in the form. | Type 5 in the form.
    Say 'stop' and wait. | Say stop and wait.
    Der Preis ist 2,500 kg. | Der Preis ist 2500 kg.
    El total es 1,250 EUR. | El total es 1250 EUR.
    Use 12,345. | Use 12345.
    Give 5 second chances. | Give 5 s chances.
    请款单要签字。 | 款单要签字。
    请奖名单要公开。 | 奖名单要公开。
    先审批再请购。 | 先审批再购。
    只能退款一次。 | 能退款一次。
    订单可以取消。 | 订单可以取消。已发货的除外。
    使用缓存。 | 使用缓存。生产环境是例外。
    使用缓存。 | 使用缓存。该规则已作废。
    客户付款给商家。 | 商家付款给客户。
    几乎不退款。 | 不退款。
    Lösche Zeilen. | Lösche Zeilen. Das ist verboten.
    Lösche Zeilen. | Lösche die Zeile.
    Prüfe jeden Posten. | Prüfe jeden zweiten Posten.
    Sende den Brief der Bank. | Sende der Bank den Brief.
    Zahle bis zu 5 EUR. | Zahle ab 5 EUR.
    Nutze den Cache. | Nutze den Cache. In Produktion ist er gefährlich.
    Warte, bis er antwortet. | Warte nicht, bis er antwortet.
    Erstatte vor dem Streik gekaufte Karten. | Erstatte gekaufte Karten vor dem Streik.
    Runde ein wenig auf. | Runde wenig auf.
    """,
)

OPPOSITES_UNSEEN_AFTERWARDS: tuple[Pair, ...] = labelled(
    "unseen afterwards",
    False,
    """
    Charge the customer once. | Charge the customer.
    Transfer funds from savings. | Transfer funds from savings. Fees apply.
    Transfer funds from savings. | Transfer funds from savings. Ask legal first.
    Transfer funds from savings. | Transfer funds from savings. This is a trap.
    Transfer funds from savings. | Transfer funds from savings. This prevents wrong totals, but is risky.
    Transfer funds from savings. | Transfer funds from savings. This prevents errors. It was withdrawn.
    Move tasks done before lunch. | Before lunch, move tasks done.
    Close tabs left open when you log out. | When you log out, close tabs left open.
    Approve leave taken after Easter. | After Easter, approve leave taken.
    Show trips during May. | During May, show trips.
    Show trips until May. | Until May, show trips.
    Bring the meals cooked while waiting for guests. | While waiting for guests, bring the meals cooked.
    Announce that it ships when it is packed. | When it is packed, announce that it ships.
    Monitor if the job runs. | If the job runs, monitor.
    Guess when the job ends. | When the job ends, guess.
    Note the dates when shops close. | When shops close, note the dates.
    Review it once it is done. | Review it.
    Accept few excuses. | Accept a few excuses.
    Give the guest little time. | Give the guest a little time.
    Book the second seat. | Book a second seat.
    Take the first of the month off. | Take a first of the month off.
    Add one more key. | Add more keys.
    Add the one key. | Add one key.
    Choose most of the votes. | Choose the most of the votes.
    Only Bob may sign. | The only Bob may sign.
    Every other user pays. | Every user pays.
    Help each other. | Help every other.
    Verify the check box. | Check the check box.
    Check the radio button. | Verify the radio button.
    Set 4 min limits. | Set 4 minute limits.
    The job does not stop on error. | The job must not stop on error.
    The job will not stop. | The job does not stop.
    The job may not stop. | The job must not stop.
    The job cannot stop. | The job does not stop.
    A job never stops. | A job should never stop.
    Jobs are not stopped. | Jobs must not be stopped.
    The fee isn't refunded. | The fee mustn't be refunded.
    Push the repo. | Push the repos.
    Remove the arg. | Remove args.
    Update the app config. | Update the apps config.
    Set the label to docs. | Set the label to documentation.
    The branch is called config. | The branch is called configuration.
    Group by column app. | Group by column application.
    Grant 1,200 points. | Grant 1.200 points.
    Gutschrift: 3,000 EUR für die Firma. | Gutschrift: 3000 EUR für die Firma.
    Send "yes" to confirm. | Send yes to confirm.
    Pick "all" in the menu. | Pick all in the menu.
    Use `not` in the filter. | Use not in the filter.
    请购单已关闭。 | 请购单未关闭。
    请款后付款。 | 款后付款。
    请假条要保存。 | 假条要保存。
    批准后发货。 | 发货后批准。
    只在周末使用缓存。 | 使用缓存。
    每隔一天备份。 | 每天备份。
    少量退款。 | 大量退款。
    订单须审批。 | 订单无须审批。
    删除文件。 | 删除文件。需要批准。
    删除文件。 | 删除文件。这很危险。
    先备份。 | 先备份。管理员除外。
    Lösche Zeilen. | Lösche Zeilen. Admins sind ausgenommen.
    Das Werkzeug wiederholt nicht. | Das Werkzeug darf nicht wiederholen.
    Nimm jede Zeile. | Nimm jede andere Zeile.
    Nimm wenige Zeilen. | Nimm ein wenig Zeilen.
    Nimm die zweite Karte. | Nimm eine zweite Karte.
    Antworte "nein". | Antworte nein.
    Storniere Karten, die vor dem Streik gekauft sind. | Storniere vor dem Streik Karten, die gekauft sind.
    Überweise 1,500 EUR. | Überweise 1.500 EUR.
    Lösche den Ordner. | Lösche die Ordner.
    Retry when it fails twice. | Retry when it fails.
    Never reuse a token twice. | Never reuse a token.
    Use either key. | Use both keys.
    Deliver to the door. | Deliver to a door.
    Deliver by truck on weekdays. | Deliver on weekdays by truck. Not by air.
    Prefer trains over buses. | Prefer buses over trains.
    Refund half of the price. | Refund the price.
    Ask for the last name. | Ask for the first name.
    Sell at market price. | Sell at list price.
    Share with the team only. | Share with the team.
    Print both sides. | Print one side.
    Stop the timer when you start the test. | Start the timer when you stop the test.
    """,
)

OPPOSITES_THIRD: tuple[Pair, ...] = labelled(
    "third set",
    False,
    """
    Delete rows. | Delete rows. This prevents failed audits.
    Make sure the door is locked. | Ensure the door gets locked.
    Users never pay twice. | Users do not pay twice.
    Check the fee if you pay. | If you pay, check the fee.
    Show files newer when you sort. | When you sort, show files newer.
    Choose seats near Ann when you book. | When you book, choose seats near Ann.
    Cancel trips planned if it rains. | If it rains, cancel trips planned.
    Cancel trips if they fly when it rains. | When it rains, cancel trips if they fly.
    Give users a code to enter when they log in. | When they log in, give users a code to enter.
    Email the person who called before paying the fee. | Before paying the fee, email the person who called.
    Use the key Ann gave you before leaving the house. | Before leaving the house, use the key Ann gave you.
    Count the people we fired before hiring a cook. | Before hiring a cook, count the people we fired.
    Print the page Ann saw before closing the app. | Before closing the app, print the page Ann saw.
    Answer questions users ask when they pay. | When they pay, answer questions users ask.
    Remove items users add if they cancel. | If they cancel, remove items users add.
    Use the price you see when you book. | When you book, use the price you see.
    Repeat what Ann says if it rains. | If it rains, repeat what Ann says.
    Return the value f has when x is 0. | When x is 0, return the value f has.
    Do the job Bob did before using the tool. | Before using the tool, do the job Bob did.
    Choose the best of the two. | Choose the best two.
    Use the two of us. | Use two of us.
    Delete the last. | Delete last.
    Come first. | Come the first.
    Use any of a few keys. | Use any of few keys.
    Sort by the second. | Sort by second.
    Log out every one. | Log out everyone.
    Pay each of them 5 EUR. | Pay them 5 EUR.
    Choose a or b. | Choose b.
    Open the file, not the folder. | Open the folder, not the file.
    Avoid tools that retry. | Avoid no tools that retry.
    Do not only retry. | Do not retry.
    Don't ever retry. | Ever retry.
    Tell users to not pay. | Tell users not to pay.
    Let it not fail. | Let it fail.
    The app does not fail. | The app doesn't always fail.
    Begin with 1. | Start with 2.
    Get 5 of them. | Obtain 6 of them.
    Wait for a min. | Wait for the min.
    Use the larger. | Use the largest.
    Read more docs. | Read most docs.
    Get in. | Get out.
    Return no rows. | Return "no" rows.
    Type `5`. | Type 5.
    Enter ‘ok’. | Enter ok.
    Use 1,000 or 2,000 for the limit. | Use 1000 or 200 for the limit.
    Zahle 1,500 EUR und call the bank. | Zahle 1500 EUR und call the bank.
    Kaufe 2,500 to. | Kaufe 2500 to.
    Overweging: 1,500 is de limiet. | Overweging: 1500 is de limiet.
    Le total is 1,500. | Le total is 1500.
    Use `a,b`. | Use `ab`.
    请领导审批。 | 领导审批。
    请购买保险。 | 购买保险单。
    务必不退款。 | 不必退款。
    必须之物要清单。 | 之物要清单。
    请问客户。 | 问客户。
    不得不退款。 | 不得退款。
    未必退款。 | 必退款。
    先请客户付款。 | 先客户付款。
    若失败则重试。 | 若成功则重试。
    仅退款。 | 不仅退款。
    Nicht nur Ann zahlt. | Nur Ann zahlt.
    Zahle erst, dann prüfe. | Prüfe erst, dann zahle.
    Kaum jemand zahlt. | Jemand zahlt.
    Zahle bitte. | Zahle nicht bitte.
    Bitte bitte nicht. | Bitte nicht zahlen.
    Storniere, falls er zahlt. | Storniere, falls er nicht zahlt.
    Das Tool löscht. | Das Tool löscht nicht.
    Keep songs Ann likes when the list is full. | When the list is full, keep songs Ann likes.
    """,
)

SAME_IN_KINDS: tuple[Pair, ...] = labelled(
    "same in kinds",
    True,
    """
    Delete it before Monday. | Before Monday, delete it.
    Stop if the list is empty. | If the list is empty, stop.
    Read the file before you change a row. | Before you change a row, read the file.
    Read the file before changing a row. | Before you change a row, read the file.
    Ask for a code when the page is full. | When the page is full, ask for a code.
    Transfer 1,500 EUR from the account. | Transfer 1500 EUR from the account.
    The limit is 12,500 rows. | The limit is 12500 rows.
    Use the list endpoint. | Use the list endpoint. This avoids errors.
    Sum the lines last. | Sum the lines last. This keeps totals correct.
    You must not retry a charge. | Do not retry a charge.
    If it fails, do not retry. | If it fails, never retry.
    Open the app. | Open the application.
    Clone the repos. | Clone the repositories.
    Read the docs first. | Read the documentation first.
    Check each row. | Check every row.
    Verify the total. | Check the total.
    Verify that the row is empty. | Check the row is empty.
    Wait 3 min before the call. | Wait 3 minutes before the call.
    Pass "user_id" to the tool. | Pass user_id to the tool.
    Answer "no" if unsure. | Answer `no` if unsure.
    Send a signed form to the bank. | Send the signed form to the bank.
    Always check the total. | Check the total.
    Por favor, cierra el archivo. | Cierra el archivo.
    请查询订单。 | 查询订单。
    请务必核对金额。 | 核对金额。
    Bitte prüfe jeden Posten. | Prüfe jeden Posten.
    """,
)
