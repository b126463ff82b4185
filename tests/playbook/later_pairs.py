"""A second set of labelled pairs, written after the rules of merging were, without a look at their word lists.

First run, before any rule was changed: 157 pairs (30 to merge, 127 not); precision 20/21 = 0.952, recall 20/30 =
0.667. The one merged opposite was "use http", "use https": a final s was taken for a plural. `OPPOSITES_FROM_RULES`
was written after reading the rules, to break them: of 199 such pairs 66 were merged, some fifty of them
wrongly (a plural, "very old" and "old", "do not simply retry" and "do not retry", "tape" and "tap" after "before",
a condition moved to where it belongs to something else, "On weekends." as a mere addition). All are apart now.
`OPPOSITES_AFTERWARDS` was written when that was mended: 109 pairs, none merged on the first run.
"""

from __future__ import annotations

from tests.playbook.likeness_pairs import Pair, labelled

LATER_PAIRS: tuple[Pair, ...] = (
    *labelled(
        "easy paraphrase",
        True,
        """
        Always check the stock before you confirm an order. | Check the stock before confirming an order.
        Never share the customer's address. | Do not share the customer's address.
        Make sure to save the draft first. | Save the draft first.
        Wait ten seconds before polling again. | Wait 10 seconds before polling again.
        You should log every refusal. | Log every refusal.
        Use pagination to get all the songs. | Use pagination to get all songs.
        Ensure that the access token is passed. | Make sure the access token is passed.
        If the list is empty, stop. | Stop if the list is empty.
        When the login fails, ask the user. | Ask the user when the login fails.
        Please close the ticket after the refund. | Close the ticket after the refund.
        It's important to verify the total. | Verify the total.
        Remember to include the year in the query. | Include the year in the query.
        Read the documentation before using the tool. | Read the docs before using the tool.
        Retry up to 3 times. | Retry at most 3 times.
        The maximum number of rows is 100. | The max number of rows is 100.
        Don't guess the password. | Never guess the password.
        Do not call the endpoint without a token. | Never call the endpoint without a token.
        Store the file in the directory "out". | Store the file in the directory `out`.
        """,
    ),
    *labelled(
        "from two tasks",
        True,
        """
        Before booking a flight, check the passport's expiry date. | Check the expiry date of the passport before booking a flight.
        List all pages before you count the songs. | Go through every page before counting songs.
        Fetch every page of results, not only the first. | Don't stop at the first page of results; fetch them all.
        Prices include tax, so do not add it. | Tax is part of the price already; never add it again.
        """,
    ),
    *labelled(
        "longer text",
        True,
        """
        Sort the rows by date. | Sort the rows by date. This helps reviewers.
        Never log tokens. | Never log tokens. Logs are kept for long.
        """,
    ),
    *labelled(
        "within another language",
        True,
        """
        请先核对库存，再确认订单。 | 先核对库存，再确认订单。
        记得保存草稿。 | 保存草稿
        不要泄露客户地址。 | 请不要泄露客户地址。
        Bitte prüfe den Lagerbestand vor der Zusage. | Prüfe den Lagerbestand vor der Zusage.
        Verifica siempre el total antes de enviar. | Verifica el total antes de enviar.
        Por favor, cierra el archivo. | Cierra el archivo.
        """,
    ),
    *labelled(
        "number",
        False,
        """
        The cart holds 12 items at most. | The cart holds 21 items at most.
        Orders over 99.50 ship free. | Orders over 99.05 ship free.
        Use the second address. | Use the third address.
        Ask twice before deleting. | Ask once before deleting.
        Pay a half of the bill. | Pay a third of the bill.
        Deliver by 2026-03-04. | Deliver by 2026-04-03.
        Deliver by 3 May. | Deliver by 5 May.
        Start at 9 am. | Start at 9 pm.
        The ratio is 1:10. | The ratio is 10:1.
        The score is 1e3. | The score is 1e4.
        Set x to ½. | Set x to ¼.
        Die Frist beträgt zwei Wochen. | Die Frist beträgt drei Wochen.
        El plazo es de dos semanas. | El plazo es de tres semanas.
        超过三次就停止。 | 超过五次就停止。
        折扣为百分之五。 | 折扣为百分之八。
        """,
    ),
    *labelled(
        "unit",
        False,
        """
        Report the weight in kg. | Report the weight in lb.
        The bag may weigh 20 kg. | The bag may weigh 20 lb.
        Temperatures are in Celsius. | Temperatures are in Fahrenheit.
        The fee is $5. | The fee is €5.
        The fee is £5. | The fee is ¥5.
        The wire is 3 inches long. | The wire is 3 feet long.
        Rates are per hour. | Rates are per day.
        Speed is in km/h. | Speed is in mph.
        The file is 5 MB. | The file is 5 Mb.
        Report sizes in MiB. | Report sizes in MB.
        等待 5 秒。 | 等待 5 分钟。
        费用为 5 元。 | 费用为 5 美元。
        Warte 5 Sekunden. | Warte 5 Minuten.
        """,
    ),
    *labelled(
        "negation",
        False,
        """
        It is not uncommon that a call fails. | It is uncommon that a call fails.
        Do not forget to lock the door. | Forget to lock the door.
        Do not fail to notify the user. | Do not notify the user.
        Refuse to share the token. | Share the token.
        Stop retrying after a refusal. | Keep retrying after a refusal.
        Stop checking the units. | Start checking the units.
        Avoid avoiding the cache. | Avoid the cache.
        Never not sign the commit. | Never sign the commit.
        Cancel only when asked. | Cancel even when not asked.
        None of the rows are valid. | One of the rows is valid.
        Neither card is accepted. | Either card is accepted.
        Hardly ever use the cache. | Ever use the cache.
        There is no need to ask. | There is need to ask.
        Ask unless the user has confirmed. | Ask if the user has confirmed.
        Ship unless the payment failed. | Ship unless the payment succeeded.
        不必检查库存。 | 必须检查库存。
        没有发票可以退款。 | 有发票可以退款。
        别用缓存。 | 用缓存。
        无需确认。 | 需确认。
        Sende den Bericht nicht. | Sende den Bericht.
        Nutze keine alten Tokens. | Nutze alte Tokens.
        No borres las copias. | Borra las copias.
        Nunca uses la caché. | Siempre usa la caché.
        """,
    ),
    *labelled(
        "opposite",
        False,
        """
        Check the balance before the transfer. | Check the balance after the transfer.
        Read the first row only. | Read the last row only.
        Include weekends. | Exclude weekends.
        You must confirm the order. | You may confirm the order.
        You must ask for a receipt. | You might ask for a receipt.
        Users can delete orders. | Users should delete orders.
        Move files from inbox to archive. | Move files from archive to inbox.
        The buyer pays the seller. | The seller pays the buyer.
        Subtract tax from the total. | Subtract the total from tax.
        Divide the sum by the count. | Divide the count by the sum.
        Prefer speed over accuracy. | Prefer accuracy over speed.
        Use Stripe rather than PayPal. | Use PayPal rather than Stripe.
        Use the cache instead of the database. | Use the database instead of the cache.
        Replace tabs with spaces. | Replace spaces with tabs.
        A is greater than B. | B is greater than A.
        If A fails, call B. | If B fails, call A.
        Check units, then sum lines. | Sum lines, then check units.
        Log in before you search. | Search before you log in.
        Turn the heater on. | Turn the heater off.
        Log in to the app. | Log out of the app.
        Scroll up to the button. | Scroll down to the button.
        Open the left panel. | Open the right panel.
        Buy when the price rises. | Sell when the price rises.
        Reply to the earliest message. | Reply to the latest message.
        Round up to a full hour. | Round down to a full hour.
        The test passes with an empty list. | The test fails with an empty list.
        It is safe to retry a charge. | It is unsafe to retry a charge.
        Both fields are needed. | Either field is needed.
        Send it only to Ann. | Only send Ann to it.
        Ann reports to the manager of Bob. | Bob reports to the manager of Ann.
        先检查再付款。 | 先付款再检查。
        从收件箱移到归档。 | 从归档移到收件箱。
        用最大值。 | 用最小值。
        开启缓存。 | 关闭缓存。
        Prüfe vor dem Versand die Summe. | Prüfe nach dem Versand die Summe.
        Sortiere aufsteigend. | Sortiere absteigend.
        Ordena antes de filtrar. | Filtra antes de ordenar.
        Incluye el impuesto. | Excluye el impuesto.
        """,
    ),
    *labelled(
        "comparison",
        False,
        """
        Buy at least two tickets. | Buy at most two tickets.
        Wait no less than 5 seconds. | Wait no more than 5 seconds.
        Ask above 100 EUR. | Ask from 100 EUR on.
        Keep up to 5 copies. | Keep over 5 copies.
        Finish before Friday. | Finish by Friday.
        Pick fewer than 3. | Pick 3 or fewer.
        Only orders over 50 ship free. | Only orders of 50 ship free.
        Wait about 5 seconds. | Wait exactly 5 seconds.
        Most users have a card. | Few users have a card.
        Always ask for the receipt. | Sometimes ask for the receipt.
        至少备份两次。 | 至多备份两次。
        金额大于 100 时确认。 | 金额小于 100 时确认。
        Behalte mindestens 3 Kopien. | Behalte höchstens 3 Kopien.
        """,
    ),
    *labelled(
        "identifier",
        False,
        """
        Use the order 48213. | Use the order 48231.
        See ticket AB-1041. | See ticket AB-1047.
        Key 550e8400-e29b-41d4-a716-446655440000 is void. | Key 550e8400-e29b-41d4-a716-446655440001 is void.
        Read config.yml first. | Read config.yaml first.
        Set MAX_RETRY to on. | Set max_retry to on.
        Write to bob@corp.example. | Write to bob@corp.test.
        Fetch /v1/orders for the list. | Fetch /v2/orders for the list.
        Use the -r flag. | Use the -R flag.
        Pass access_token in the call. | Pass refresh_token in the call.
        Check the field "amount". | Check the field "amounts".
        Ask Müller to sign. | Ask Muller to sign.
        """,
    ),
    *labelled(
        "tool",
        False,
        """
        Call show_song for the title. | Call show_songs for the title.
        Call spotify.show_playlist first. | Call spotify.show_playlists first.
        Use jq for the report. | Use yq for the report.
        Run pip install. | Run pipx install.
        Use http for the call. | Use https for the call.
        Call apis.venmo.login for a token. | Call apis.gmail.login for a token.
        """,
    ),
    *labelled(
        "condition",
        False,
        """
        Refund if the item is broken. | Refund if the item is late.
        For imports, check the units. | For exports, check the units.
        Ask when the amount is negative. | Ask when the amount is missing.
        On failure, call the user. | On success, call the user.
        Retry only on timeouts. | Retry also on timeouts.
        Send the mail if Ann and Bob agree. | Send the mail if Ann or Bob agrees.
        Until the job ends, hold the lock. | After the job ends, hold the lock.
        As long as it is open, write to it. | As soon as it is open, write to it.
        """,
    ),
)

OPPOSITES_FROM_RULES: tuple[Pair, ...] = labelled(
    "found by reading the rules",
    False,
    """
    Use the very old copies. | Use the old copies.
    Delete files that are not very old. | Delete files that are not old.
    Do not simply retry a call. | Do not retry a call.
    Do not rely always on the cache. | Do not rely on the cache.
    Retry if it always fails. | Retry if it fails.
    Do not drive really fast. | Do not drive fast.
    Wait 5 minimum. | Wait 5 minutes.
    Show the seconds. | Show the second.
    Pay thousands for it. | Pay thousand for it.
    Fill in the customs form. | Fill in the custom form.
    Show the top result. | Show the top results.
    Delete the first row. | Delete the first rows.
    Delete a row of the table. | Delete rows of the table.
    Delete the row. | Delete the rows.
    Send a reminder. | Send reminders.
    Save before you scrape the page. | Save before you scrap the page.
    Press the key before you tape the box. | Press the key before you tap the box.
    Stop staring. | Stop starring.
    Ask after planing. | Ask after planning.
    Use axios or fetch for calls. | Use axios or get for calls.
    Verify whether the user paid after the deadline. | After the deadline, verify whether the user paid.
    Before shipping, check if it is paid. | If it is paid, check before shipping.
    Remind the user to log in after the update. | After the update, remind the user to log in.
    Tell the user to pay before shipping. | Before shipping, tell the user to pay.
    Say that it is late when the user asks. | When the user asks, say that it is late.
    Pay what you must pay. | Pay what you should pay.
    Tell the user what you must do. | Tell the user what you should do.
    Sum lines. | Sum lines. Credits excluded.
    Retry the call. | Retry the call. On weekends.
    Retry the call. | Retry the call. Rarely.
    Retry the call. | Retry the call. Outdated advice.
    Delete the file. | Delete the file. Undo that.
    Use the cache. | Use the cache. For imports.
    Use the cache. | Use the cache. Admins are exempt.
    Use the cache. | Use the cache. Drafts are exempt from it.
    请教专家。 | 教专家。
    请示经理。 | 示经理。
    Pack it including tax and net total. | Pack it including net and tax total.
    Use lens for it. | Use len for it.
    Check odds. | Check odd.
    If one fails, stop. | If on fails, stop.
    Stop after use. | Stop after us.
    Write to the docs folder. | Write to the documentation folder.
    Use dir to list files. | Use folder to list files.
    Copia a archivo. | Copia archivo.
    Ändere nichts. | Ändere nicht.
    Send Ann the form of Bob. | Send Bob the form of Ann.
    Report amounts in CAD dollars. | Report amounts in CAD.
    The users' token is shared. | The user's token is shared.
    Pay the customer's invoice. | Pay the customers' invoice.
    Let the user check in. | Let the user check.
    Do not avoid tolls. | Avoid tolls.
    Never avoid retrying. | Avoid retrying.
    Not only Ann signs. | Ann only signs.
    Do not only check the sum. | Do not check the sum.
    Do not just check the sum. | Do not check the sum.
    Do not check only the sum. | Check only the sum.
    Use no more cache. | Use no cache.
    Use more than one cache. | Use one cache.
    Ask no one but Ann. | Ask no one and Ann.
    Take all but one. | Take all.
    Take the last but one. | Take the last one.
    Everything except A and B. | Everything except A or B.
    If A and not B, stop. | If B and not A, stop.
    Set a to 1 and b to 2. | Set a to 2 and b to 1.
    Pick 3 of 5. | Pick 5 of 3.
    Increase it by 5. | Increase it to 5.
    Increase it from 5. | Increase it to 5.
    Round to 5. | Round by 5.
    Pay by Friday. | Pay on Friday.
    Pay within 5 days. | Pay after 5 days.
    Store it in UTC+1. | Store it in UTC-1.
    Use +5. | Use -5.
    Use 5+. | Use 5.
    Use 1,5. | Use 1.5.
    Use 1,500. | Use 1.500.
    Use 1,000. | Use 1.000.
    Use 10,00. | Use 1000.
    Use 5k. | Use 5.
    Use 0x10. | Use 10.
    Use $5. | Use 5.
    Pay 5 dollars. | Pay 5 euros.
    Pay $5 USD. | Pay $5 CAD.
    10/11/2026 is the day. | 11/10/2026 is the day.
    Use 10:30. | Use 10:31.
    Call tool a then tool b. | Call tool b then tool a.
    Call get_user. | Call get_users.
    Call getUser. | Call getuser.
    Call get-user. | Call get_user.
    Call user.get. | Call user/get.
    Open `a.b`. | Open `a,b`.
    Use #1. | Use 1.
    Use @ann. | Use ann.
    Use *.txt. | Use .txt.
    Use "a" "b". | Use "a b".
    Use f(). | Use f.
    Use ~/x. | Use /x.
    Use a|b. | Use a b.
    Use n! | Use n
    Use C#. | Use C.
    Use .NET. | Use NET.
    The answer is "The". | The answer is "the".
    Use vitamin a daily. | Use vitamin daily.
    Set flag a again. | Set flag again.
    Do not use the cache when it is stale. | When it is stale, use the cache.
    Not before Monday. | Before Monday.
    Only before Monday. | Before Monday.
    It is never too late to ask. | It is not late to ask.
    Ask unless told. | Ask if told.
    Use it if and only if asked. | Use it if asked.
    Use it only if asked. | Use it if asked.
    Use it even if asked. | Use it if asked.
    Use it as if asked. | Use it if asked.
    Use it whether asked or not. | Use it if asked.
    He pays her. | She pays him.
    Use my key. | Use your key.
    You should stop. | You could stop.
    You must stop. | You may stop.
    You must not stop. | You need not stop.
    You do not have to stop. | Do not stop.
    You don't need to stop. | Do not stop.
    There's no need to stop. | Do not stop.
    You can't stop. | You can stop.
    You won't stop. | You will stop.
    It isn't safe. | It is safe.
    Nobody may stop. | Anybody may stop.
    Wait for 2 s or 3 min. | Wait for 3 s or 2 min.
    Wait 1 h 30 min. | Wait 1 min 30 h.
    Use twelve. | Use twenty.
    Use one. | Use two.
    Pay a hundred. | Pay a thousand.
    Pay twice. | Pay.
    Pay daily. | Pay weekly.
    Pay in March. | Pay in May.
    Pay on Monday. | Pay on Tuesday.
    Pay in cash. | Pay by card.
    多于三个。 | 少于三个。
    不超过三次。 | 超过三次。
    不是不能退款。 | 不能退款。
    从A到B。 | 从B到A。
    先A后B。 | 先B后A。
    必须确认。 | 可以确认。
    必须确认。 | 不必确认。
    请勿确认。 | 请确认。
    请不要确认。 | 请确认。
    三月付款。 | 五月付款。
    每天备份。 | 每周备份。
    除了周末都可以。 | 周末都可以。
    一定要备份。 | 不一定要备份。
    只退款。 | 退款。
    含税。 | 不含税。
    Mit Mehrwertsteuer. | Ohne Mehrwertsteuer.
    Nie löschen. | Immer löschen.
    Bis Montag warten. | Ab Montag warten.
    Con impuesto. | Sin impuesto.
    Antes del envío. | Después del envío.
    Más de 5. | Menos de 5.
    """,
)

STILL_THE_SAME: tuple[Pair, ...] = labelled(
    "still the same",
    True,
    """
    Check a row before you use it. | Check a row before using it.
    Ask before stopping the job. | Ask before you stop the job.
    Ask before running a job. | Ask before you run a job.
    Before calling the endpoint, check the token. | Check the token before you call the endpoint.
    Always check if the token is valid. | Check if the token is valid.
    Check the response and retrieve the id. | Check the response and get the id.
    If the call fails, you should retry it. | Retry it if the call fails.
    """,
)

OPPOSITES_AFTERWARDS: tuple[Pair, ...] = labelled(
    "after the rules were mended",
    False,
    """
    Pay before you ship. | Pay once you ship.
    Pay when the order ships. | Pay if the order ships.
    Log in, then ask the user. | Ask the user, then log in.
    Use the email of the sender. | Use the email of the receiver.
    Call login with the username. | Call login with the user name and mail.
    Delete notes older than a week. | Delete notes older than a month.
    Do not delete notes that are pinned. | Delete notes that are not pinned.
    Only delete notes when told. | Delete only notes when told.
    Never call the API without a token. | Never call the API with a token.
    Play the song with the most likes. | Play the song with the most plays.
    Retry until it succeeds. | Retry unless it succeeds.
    Retry while it fails. | Retry until it fails.
    Split the bill evenly among the roommates. | Split the bill evenly among the coworkers.
    Use page_limit=20. | Use page_limit=10.
    Use page_index from 0. | Use page_index from 1.
    Set private=True. | Set private=False.
    Send to all but Ann. | Send to all and Ann.
    Mark it as read. | Mark it as unread.
    Follow artists of liked songs. | Unfollow artists of liked songs.
    Approve requests from friends. | Deny requests from friends.
    Round half up. | Round half down.
    Sort newest first. | Sort newest last.
    Use UTC for the due date. | Use local time for the due date.
    The API needs an id, not a name. | The API needs a name, not an id.
    Ask for the total excluding tax. | Ask for the total including tax.
    Count each song once. | Count each song.
    Use the this-month window. | Use the last-month window.
    Use the card that expires last. | Use the card that expires first.
    If the balance is below 50, top up. | If the balance is above 50, top up.
    If it is not found, create it. | If it is found, create it.
    If none is found, stop. | If one is found, stop.
    Before you delete, archive. | Before you archive, delete.
    After you delete, archive. | Before you delete, archive.
    Compare ids case-sensitively. | Compare ids case-insensitively.
    Compare names with case. | Compare names without case.
    Use the exact match. | Use the partial match.
    Accept partial payment. | Reject partial payment.
    Do not submit and close. | Submit and do not close.
    Submit, do not close. | Do not submit, close.
    Submit. Do not close. | Do not submit. Close.
    Do A. Never B. | Do B. Never A.
    Use the home address. | Use the work address.
    Use yesterday's date. | Use today's date.
    Use yesterday. | Use tomorrow.
    The week starts on Monday. | The week starts on Sunday.
    The end date is inclusive. | The end date is exclusive.
    Include the end date. | Include the start date.
    Add 1 day to the date. | Subtract 1 day from the date.
    Multiply by 100. | Divide by 100.
    Store cents, not dollars. | Store dollars, not cents.
    Cancel the order for the user. | Cancel the user for the order.
    Give Ann Bob's card. | Give Bob Ann's card.
    Give the user the code of the agent. | Give the agent the code of the user.
    Wait to retry. | Wait, retry.
    Use list_a and list_b. | Use list_a or list_b.
    Use A and B or C. | Use A or B and C.
    Use A unless B. | Use B unless A.
    Use A if B. | Use B if A.
    Use A because of B. | Use B because of A.
    Let Ann pay for Bob. | Let Bob pay for Ann.
    Merge branch a into b. | Merge branch b into a.
    Rename a to b. | Rename b to a.
    Subtract 5 from x. | Subtract x from 5.
    Show less detail. | Show more detail.
    Use fewer calls. | Use more calls.
    Never exceed 5 calls. | Never fall under 5 calls.
    Use lowercase ids. | Use uppercase ids.
    Prefer GET. | Prefer POST.
    Use get to read and put to write. | Use put to read and get to write.
    Use the show command, not display. | Use the display command, not show.
    Call select and then pick. | Call pick and then select.
    Check in the guest. | Check the guest.
    Check out the guest. | Check in the guest.
    Get in the queue. | Get the queue.
    Get rid of the token. | Get the token.
    Pick up the parcel. | Pick the parcel.
    Show up the error. | Show the error.
    Call off the order. | Call the order.
    Call back the user. | Call the user.
    Use up the balance. | Use the balance.
    Start over the job. | Start the job.
    Verify the user can pay. | Verify that the user can't pay.
    Avoid asking twice. | Avoid asking once.
    Make sure to never ask. | Make sure to ask.
    Do not make sure to ask. | Make sure to ask.
    Don't forget not to ask. | Don't forget to ask.
    Remember not to ask. | Remember to ask.
    You should not need to ask. | You need to ask.
    You have to ask. | You don't have to ask.
    You must never ask. | You must ask.
    It is important not to ask. | It is important to ask.
    It is not important to ask. | It is important to ask.
    It is necessary to ask. | It is unnecessary to ask.
    Be sure not to ask. | Be sure to ask.
    Take care not to ask. | Take care to ask.
    Try to ask. | Try not to ask.
    If you must not ask, stop. | If you must ask, stop.
    Ensure that it fails. | Ensure that it does not fail.
    请不要先付款。 | 请先付款。
    必须先确认再付款。 | 先付款再确认。
    务必不要重试。 | 务必重试。
    最多重试三次。 | 最少重试三次。
    之前检查。 | 之后检查。
    买家付款给卖家。 | 卖家付款给买家。
    Zahle vor dem Versand. | Zahle nach dem Versand.
    Zahle nicht per Karte. | Zahle per Karte.
    Paga antes de enviar. | Paga después de enviar.
    No pagues con tarjeta. | Paga con tarjeta.
    Envía a Ana el código de Luis. | Envía a Luis el código de Ana.
    """,
)
